// The parts of web/budget.json that need the running program: the page as sent, and a phone's first picture.
import { brotliCompressSync } from "node:zlib";

import { expect, test, watchShifts } from "./fixtures.ts";

// The full browser: the headless shell requests lazy pictures from further away.
test.use({
  launchOptions: async ({ launchOptions }, give) =>
    give({ ...launchOptions, executablePath: "/usr/bin/chromium" }),
});

const HOME_BYTES = 20_000;
const HERO_BYTES = 60_000;

for (const address of ["/", "/?lang=pt"])
  test(`P-weight-page: the page at ${address} is below ${HOME_BYTES} bytes in Brotli, its sheet included`, async ({
    demo,
  }) => {
    const html = await (await fetch(demo.url + address)).text();
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
    test("P-weight-hero: waits for one picture below 60 kB, asked for once, before all others", async ({
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

test.describe("the first view of the gallery on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 });

  test("P-2: costs less than 500 kB of pictures, and nothing moves", async ({ page, demo }) => {
    const shifts = await watchShifts(page);
    let bytes = 0;
    const sizes: Promise<void>[] = [];
    page.on("requestfinished", (request) => {
      if (request.resourceType() === "image")
        sizes.push(
          request.sizes().then(({ responseBodySize }) => void (bytes += responseBodySize)),
        );
    });
    await page.goto(`${demo.url}/gallery/all`);
    await expect(page.getByRole("link", { name: /^Open / }).first()).toBeVisible();
    // Lazy pictures are asked for with the first layout, which on a slow machine comes after the network has been idle.
    await page.waitForFunction(() =>
      [...document.images]
        .filter((one) => {
          const { top, bottom, width } = one.getBoundingClientRect();
          return width > 0 && bottom > 0 && top < innerHeight;
        })
        .every((one) => one.complete && one.naturalWidth > 0),
    );
    await page.waitForLoadState("networkidle");
    await expect
      .poll(async () => {
        await Promise.all(sizes);
        return bytes;
      }, "bytes of pictures")
      .toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(500_000);
    expect(await shifts()).toEqual({ sum: 0, from: [] });
  });
});
