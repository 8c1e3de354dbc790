// The URLs of the site: each page, the dialogs of works, links to deleted works, and the language.
import {
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  holdRequests,
  loadAllPictures,
  test,
} from "./fixtures.ts";
import { inLanguage, languages, text } from "./texts.ts";

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

// The browser's console message for a document with status 404.
test.use({
  allowedConsole: [
    /Failed to load resource: the server responded with a status of 404 .*\/nothing\/here/,
  ],
});

// accessibility.spec.ts runs axe on all of them, in both schemes.
test("S2-route-2: each page has its heading and fits at each width", async ({ page, demo }) => {
  for (const { path, heading, status } of routes)
    await test.step(path, async () => {
      const response = await page.goto(demo.url + path);
      expect(response!.status()).toBe(status);
      await expect(page.getByRole("heading", { level: 1, name: heading })).toBeAttached();
      await loadAllPictures(page);
      for (const width of [320, 390, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await expectNoSidewaysScroll(page);
      }
    });
});

test("pages comply with their content security policy and load nothing from other sites", async ({
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

test("the gallery contains all works except oil and acrylic", async ({ page, demo }) => {
  await page.goto(`${demo.url}/gallery`);
  await expect(page.getByRole("link", { name: /^Open / })).toHaveCount(22);
});

test("S2-route-9: the URL of a work opens its dialog, and Back closes it", async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/gallery/all`);
  await page.getByRole("link", { name: /Romãs/ }).click();
  await expect(page).toHaveURL(/[?&]art=/);
  const address = page.url();
  await page.goBack();
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.goto(address);
  await expect(page.getByRole("dialog").getByRole("heading", { name: "Romãs" })).toBeVisible();
});

test("S2-route-9: Back closes the dialog also after a second click while its code loaded", async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/gallery/all`);
  const release = await holdRequests(page, /\/artwork-dialog-[^/]+\.js$/);
  const card = page.getByRole("link", { name: /Romãs/ });
  const requested = page.waitForRequest(/\/artwork-dialog-[^/]+\.js$/);
  await card.click();
  await requested; // by the render after the first click
  await expect(page).toHaveTitle(/Romãs/);
  await card.click();
  release();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: "Romãs" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(`${demo.url}/gallery/all`);
});

test("S2-route-home: a work opened on the home page has its own URL: Back closes it, and a reload or a link shows it", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  const card = page.locator("[data-carousel]").getByRole("link").first();
  await card.click();
  await expect(page).toHaveURL(/\/\?art=[0-9a-f-]{36}$/);
  const dialog = page.getByRole("dialog");
  const title = (await dialog.getByRole("heading").first().textContent())!;
  await expect(page).toHaveTitle(/. · Alvor$/);
  const address = page.url();
  await page.goBack();
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(page).toHaveTitle("Alvor");
  await page.goForward();
  await page.reload();
  await expect(dialog.getByRole("heading", { name: title })).toBeVisible();
  await expect(dialog.locator(":focus")).toHaveCount(1); // from then on it receives keys
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(`${demo.url}/`);
  const head = await (await fetch(address)).text();
  expect(head).toMatch(new RegExp(`<link rel="canonical" href="[^"]*/gallery/\\w+\\?art=`));
});

test.describe("a link to a deleted work", () => {
  test.use({ allowedConsole: [/status of 404 .*\/gallery\//] });

  for (const language of languages)
    test(`S2-route-9: a notice above the gallery says that the work is gone, in ${language}`, async ({
      page,
      demo,
    }) => {
      const gone = `/gallery/mural?art=00000000-0000-4000-8000-00000000dead`;
      const response = await page.goto(demo.url + inLanguage(language, gone));
      expect(response!.status()).toBe(404);
      const sentence = page.getByText(text(language, "gallery.gone"));
      await expect(sentence).toBeVisible();
      await expect(page.getByRole("main").getByRole("link").nth(5)).toBeVisible();
      await expect(page.getByRole("dialog")).toBeHidden();
      await expectAccessible(page);
      await page.locator("[role=listitem] a").first().click(); // a work; the filters are in li elements
      await expect(sentence).toBeHidden();
      await expect(page.getByRole("dialog")).toBeVisible();
      await page.goBack();
      await expect(page.getByRole("dialog")).toBeHidden();
      await expect(page).toHaveURL(demo.url + inLanguage(language, gone));
    });
});

test("the language is kept in memory and can be set by the URL", async ({ page, demo }) => {
  await page.goto(demo.url);
  await page.getByRole("button", { name: "Mudar para português" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  await expect(page.getByRole("contentinfo")).toHaveAttribute("lang", "pt");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
});
