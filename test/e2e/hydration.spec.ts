// The server's HTML equals React's first render in the browser.
import type { Response } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { signInAt } from "./admin.ts";
import {
  buildForDevelopment,
  type DevelopmentBuild,
  openAndHydrate,
  useDevelopmentBuild,
} from "./development.ts";
import { renderInBrowser, expect, test } from "./fixtures.ts";
import { inLanguage, languages, text } from "./texts.ts";

const routes = [
  "/",
  "/gallery",
  "/gallery/mural",
  "/gallery/sculpture",
  "/politica-privacidade",
  "/nowhere/at/all",
];

// The browser's console message for an unknown URL.
test.use({ allowedConsole: [/status of 404 .*\/nowhere/] });

let build: DevelopmentBuild;
test.beforeAll(async () => {
  build = await buildForDevelopment();
});
test.afterAll(() => build.remove());

for (const language of languages) {
  test(`P-drawn-hydrates: the HTML of every public page matches React's first render, in ${language}`, async ({
    page,
    demo,
  }) => {
    await useDevelopmentBuild(page, build);
    for (const route of routes) {
      const { kept } = await openAndHydrate(page, demo.url + inLanguage(language, route));
      expect(kept, `${route} is hydrated, not rendered again`).toBe(true);
    }
  });
}

test("P-drawn-hydrates: the HTML matches if the browser's clock is two days off", async ({
  page,
  demo,
}) => {
  await useDevelopmentBuild(page, build);
  for (const days of [-2, 2]) {
    await page.clock.setSystemTime(Date.now() + days * 24 * 60 * 60 * 1000);
    for (const route of ["/", "/politica-privacidade"]) {
      expect((await openAndHydrate(page, demo.url + route)).kept).toBe(true);
    }
  }
});

test("P-drawn-hydrates: the HTML matches for an owner with a stored session", async ({
  page,
  demo,
}) => {
  await signInAt(page, demo, "/admin");
  await useDevelopmentBuild(page, build);
  for (const route of ["/", "/gallery"]) {
    expect((await openAndHydrate(page, demo.url + route)).kept).toBe(true);
    await expect(page.getByRole("button", { name: text("en", "nav.signOut") })).toBeVisible();
  }
});

test("P-drawn-hydrates: the HTML matches if a work's dialog opens on load", async ({
  page,
  demo,
}) => {
  await useDevelopmentBuild(page, build);
  const { data, error } = await asService(demo)
    .from("products")
    .select("id, title")
    .eq("artwork_type", "mural");
  if (error) throw error;
  const work = data[0]!;
  expect((await openAndHydrate(page, `${demo.url}/gallery?art=${work.id}`)).kept).toBe(true);
  await expect(page.getByRole("dialog").getByRole("heading", { name: work.title })).toBeVisible();
});

test("P-drawn-hydrates: a fragment that is not valid percent-encoding leaves the page as it is", async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/#100%`);
  await expect(page.getByRole("banner")).toBeVisible();
  await expect(page.getByRole("contentinfo")).toBeAttached();
});

test("P-drawn-hydrates: the page stays hydrated when its first toast is shown", async ({
  page,
  demo,
}) => {
  await useDevelopmentBuild(page, build);
  await page.route("**/functions/v1/submit-contact", (route) =>
    route.fulfill({ json: { success: true } }),
  );
  expect((await openAndHydrate(page, demo.url)).kept).toBe(true);
  await page.getByLabel(text("en", "contact.form.name")).fill("Inês");
  await page.getByLabel(text("en", "contact.form.email")).fill("ines@example.com");
  await page.getByRole("textbox", { name: text("en", "contact.form.message") }).fill("A wall, 6 m");
  await page.getByRole("button", { name: text("en", "contact.form.send") }).click();
  await expect(page.locator("[data-sonner-toast]")).toBeVisible();
});

test.describe("a page with one different word", () => {
  test.use({ allowedConsole: [/./] });

  test("P-drawn-hydrates: a mismatch is logged and the page is rendered again, which proves that the other tests detect mismatches", async ({
    page,
    demo,
  }) => {
    const errors: string[] = [];
    page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
    const heading = `>${text("en", "gallery.title")}</h1>`;
    await useDevelopmentBuild(page, build, (html) => {
      expect(html).toContain(heading);
      return html.replace(heading, ">Something else</h1>");
    });
    await openAndHydrate(page, `${demo.url}/gallery`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(text("en", "gallery.title"));
    await expect
      .poll(() => errors.join("\n"), "what the console tells")
      .toMatch(/^The page was rendered again[\s\S]*Hydration failed/m);
  });
});

test("P-drawn-data: a page contains the data of its queries, so it requests none on arrival", async ({
  page,
  demo,
}) => {
  const requestedUrls: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/rest/v1/")) requestedUrls.push(request.url());
  });
  const { data, error } = await asService(demo).from("products").select("id").limit(1).single();
  if (error) throw error;
  for (const route of ["/", "/gallery", "/gallery/mural", `/gallery?art=${data.id}`]) {
    await page.goto(demo.url + route, { waitUntil: "networkidle" });
    expect(requestedUrls, route).toEqual([]);
  }
});

test("P-drawn-data: the data in a page equal the responses of the endpoints, in the same order", async ({
  page,
  demo,
}) => {
  await renderInBrowser(page);
  const responses = new Map<string, Response>();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith("/rest/v1/"))
      responses.set(pathname.slice("/rest/v1/".length), response);
  });
  // As text, because order and format count too. Undefined while there is no response.
  const rowsOf = async (table: string) => JSON.stringify(await responses.get(table)?.json());
  for (const [route, tables] of [
    ["/", ["cover_images", "products", "reviews"]],
    ["/gallery", ["products", "series"]],
    ["/gallery/watercolour", ["products", "series"]],
  ] as const) {
    responses.clear();
    const html = await (await page.request.get(demo.url + route)).text();
    const block = /id="boot">(.*?)<\/script>/.exec(html)![1]!;
    const { queries } = JSON.parse(block) as { queries: [string[], unknown][] };
    expect(queries.map(([key]) => key[0])).toEqual(tables);
    await page.goto(demo.url + route, { waitUntil: "networkidle" });
    for (const [[table], data] of queries) {
      const known = (data as { rows?: unknown[] }).rows ?? data;
      // Polled, because a slow machine may send requests after the network has been idle.
      await expect.poll(() => rowsOf(table!), `${route}: ${table}`).toBe(JSON.stringify(known));
      if (known !== data) expect((data as { total: number }).total).toBe((known as []).length);
    }
  }
});
