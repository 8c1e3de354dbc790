import {
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  loadAllPictures,
  test,
} from "./fixtures.ts";

const routes = [
  { path: "/", heading: "Alvor", status: 200 },
  { path: "/gallery", heading: "Gallery", status: 200 },
  { path: "/gallery/digital", heading: "Gallery", status: 200 },
  { path: "/gallery/mural", heading: "Gallery", status: 200 },
  { path: "/gallery/watercolour", heading: "Gallery", status: 200 },
  { path: "/gallery/sculpture", heading: "Gallery", status: 200 },
  { path: "/politica-privacidade", heading: "Política de Privacidade", status: 200 },
  { path: "/admin/auth", heading: "Sign in", status: 200 },
  { path: "/nothing/here", heading: "Oops! Page not found", status: 404 },
];

// The browser itself notes a document that answers 404.
test.use({
  allowedConsole: [
    /Failed to load resource: the server responded with a status of 404 .*\/nothing\/here/,
  ],
});

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });
    for (const { path, heading, status } of routes) {
      test(`${path} is there, accessible, and fits`, async ({ page, demo }) => {
        const answer = await page.goto(demo.url + path);
        expect(answer!.status()).toBe(status);
        await expect(page.getByRole("heading", { level: 1, name: heading })).toBeAttached();
        await loadAllPictures(page);
        await expectAccessible(page);
        for (const width of [320, 390, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await expectNoSidewaysScroll(page);
        }
      });
    }
  });
}

test("the pages keep to their content security policy and load nothing from elsewhere", async ({
  page,
  demo,
}) => {
  const hosts = new Set<string>();
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http")) hosts.add(host);
  });
  await page.goto(demo.url);
  await loadAllPictures(page);
  expect([...hosts]).toEqual([new URL(demo.url).host]);
});

test("every work hangs in the gallery, oil and acrylic aside", async ({ page, demo }) => {
  await page.goto(`${demo.url}/gallery`);
  await expect(page.getByRole("link", { name: /^Open / })).toHaveCount(22);
});

test("a work's address opens its dialog, and Back closes it", async ({ page, demo }) => {
  await page.goto(`${demo.url}/gallery/all`);
  await page.getByRole("link", { name: /Romãs/ }).click();
  await expect(page).toHaveURL(/[?&]art=/);
  const address = page.url();
  await page.goBack();
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.goto(address);
  await expect(page.getByRole("dialog").getByRole("heading", { name: "Romãs" })).toBeVisible();
  await page.goto(`${demo.url}/gallery/all?art=00000000-0000-4000-8000-00000000dead`);
  await expect(page.getByRole("heading", { level: 1, name: "Gallery" })).toBeVisible();
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("the language lives in memory and the address asks for it", async ({ page, demo }) => {
  await page.goto(demo.url);
  await page.getByRole("button", { name: "Mudar para português" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  await expect(page.getByRole("contentinfo")).toHaveAttribute("lang", "pt");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
});
