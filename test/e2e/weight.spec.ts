// The parts of web/budget.json that need the running program: the size of the page, and the first picture on a phone.
import { brotliCompressSync } from "node:zlib";

import type { Request } from "@playwright/test";

import { expect, openWithPausedClock, test, watchShifts } from "./fixtures.ts";

// The full browser, because the headless shell requests lazy pictures from further away.
test.use({
  launchOptions: async ({ launchOptions }, give) =>
    give({ ...launchOptions, executablePath: "/usr/bin/chromium" }),
});

const HOME_BYTES = 20_000;
const HERO_BYTES = 60_000;

for (const path of ["/", "/?lang=pt"])
  test(`P-weight-page: the page ${path} is smaller than ${HOME_BYTES} bytes in Brotli, including its style sheet`, async ({
    demo,
  }) => {
    const html = await (await fetch(demo.url + path)).text();
    expect(html).toContain("<style>");
    expect(html).toContain("<main");
    expect(brotliCompressSync(html).length).toBeLessThan(HOME_BYTES);
  });

for (const phone of [
  { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75 },
  { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 },
])
  test.describe(`a phone of ${phone.viewport.width} × ${phone.deviceScaleFactor}`, () => {
    test.use(phone);
    test("P-weight-hero: one picture of less than 60 kB is requested once, before all others", async ({
      page,
      demo,
    }) => {
      const pictures: string[] = [];
      page.on("request", (request) => {
        if (request.resourceType() === "image") pictures.push(request.url());
      });
      const whole = page.waitForEvent("requestfinished", (request) =>
        request.url().includes("/cover-images/"),
      );
      await page.goto(demo.url);
      const first = await whole;
      const { responseBodySize } = await first.sizes();
      expect(responseBodySize).toBeGreaterThan(5_000);
      expect(responseBodySize).toBeLessThan(HERO_BYTES);
      await expect(page.locator("[data-hero] img").first()).toHaveJSProperty(
        "currentSrc",
        first.url(),
      );
      expect(pictures[0]).toBe(first.url());
      expect(pictures.filter((url) => url === first.url())).toHaveLength(1);
      await expect(page.locator("img[fetchpriority=high]")).toHaveCount(1);
    });
  });

/**
 * Returns the size of the responses' bodies. Tests ask for sizes here and not when a request finishes: a promise that nobody awaits
 * is rejected when the page closes, and fails the next test.
 */
async function bytesOf(requests: Iterable<Request>): Promise<number> {
  const sizes = await Promise.all(Array.from(requests, (request) => request.sizes()));
  return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
}

/** The size limit of everything that the home page requests by itself before the visitor moves. */
const FIRST_VIEW_BYTES = 500_000;

for (const [width, height, deviceScaleFactor] of [
  [390, 844, 2],
  [390, 844, 3],
  [768, 1024, 2],
  [1440, 900, 1],
  [1440, 900, 2],
] as const)
  test.describe(`a screen of ${width} × ${height} × ${deviceScaleFactor}`, () => {
    test.use({ viewport: { width, height }, deviceScaleFactor });

    test("P-weight-first: before the visitor's move the home page loads only what its first view needs, and the rest afterwards", async ({
      page,
      demo,
    }) => {
      const loaded = new Map<string, Request>();
      page.on("requestfinished", (request) => {
        const { pathname } = new URL(request.url());
        loaded.set(pathname.replace(/-[\w-]{6,8}\.js$/, ".js"), request);
      });
      await openWithPausedClock(page, demo.url); // otherwise the hero would advance by itself
      await page.waitForLoadState("networkidle");
      expect([...loaded.keys()].sort()).toEqual([
        "/",
        "/assets/en.js",
        "/assets/index.js",
        "/assets/start.js",
        "/favicon.svg",
        "/fonts/ysabeau-roman.woff2",
        "/storage/v1/render/image/public/cover-images/demo/mu-sol.jpg",
      ]);
      const bytes = await bytesOf(loaded.values());
      expect(bytes).toBeGreaterThan(150_000);
      expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
      // On slow networks browsers request lazy pictures that are far below the window, but none without a box.
      const hidden = page.locator("[data-hero] ~ * img");
      expect(await hidden.count()).toBeGreaterThan(12);
      await expect(hidden.filter({ visible: true })).toHaveCount(0);
      const sectionTops = () =>
        page
          .locator("main section")
          .evaluateAll((all) =>
            all.map((e) => Math.round(e.getBoundingClientRect().top + scrollY)),
          );
      const topsBefore = await sectionTops();

      await page.mouse.move(width / 2, height / 3);
      await expect
        .poll(async () => {
          await page.clock.runFor(20);
          return [...loaded.keys()].filter((path) => /(carousel-driver|gallery)\.js/.test(path));
        })
        .toHaveLength(2);
      const work = page.getByRole("link", { name: /^Open / }).first();
      await work.scrollIntoViewIfNeeded();
      await expect(work.locator("img")).toHaveJSProperty("complete", true);
      await expect(work.locator("img")).toBeVisible();
      await expect(page.locator("#about img")).toBeVisible();
      // The titles of works are upright until the italic font has loaded.
      await expect(work.locator(".italic")).toHaveCSS("font-style", "italic");
      expect([...loaded.keys()]).toContain("/fonts/ysabeau-italic.woff2");
      expect(await sectionTops()).toEqual(topsBefore);
    });
  });

test("P-weight-first: pictures below the hero load immediately if they are inside the window", async ({
  page,
  demo,
}) => {
  // Programs that read pages in a very high window never move. A low hero has the same effect.
  await page.route(demo.url, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(
      "</head>",
      "<style>[data-hero]{max-height:50vh;min-height:0!important}</style></head>",
    );
    return route.fulfill({ response, body });
  });
  await page.goto(demo.url, { waitUntil: "load" });
  const picture = page
    .getByRole("link", { name: /^Open / })
    .first()
    .locator("img");
  await expect(picture).toBeVisible();
  await expect(picture).not.toHaveJSProperty("naturalWidth", 0);
});

test.describe("the first view of the gallery on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 });

  test("P-2: it loads less than 500 kB of pictures, and the layout does not shift", async ({
    page,
    demo,
  }) => {
    const shifts = await watchShifts(page);
    const pictures: Request[] = [];
    page.on("requestfinished", (request) => {
      if (request.resourceType() === "image") pictures.push(request);
    });
    await page.goto(`${demo.url}/gallery/all`);
    await expect(page.getByRole("link", { name: /^Open / }).first()).toBeVisible();
    // Lazy pictures are requested with the first layout, which on a slow machine comes after the network has been idle.
    await page.waitForFunction(() =>
      [...document.images]
        .filter((one) => {
          const { top, bottom, width } = one.getBoundingClientRect();
          return width > 0 && bottom > 0 && top < innerHeight;
        })
        .every((one) => one.complete && one.naturalWidth > 0),
    );
    await page.waitForLoadState("networkidle");
    await expect.poll(() => bytesOf(pictures), "bytes of pictures").toBeGreaterThan(20_000);
    expect(await bytesOf(pictures)).toBeLessThan(500_000);
    expect(await shifts()).toEqual({ sum: 0, from: [] });
  });
});
