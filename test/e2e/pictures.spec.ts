// What pictures cost, when they are there, and how close one can come: with the demo's works in their renditions.
import type { Page } from "@playwright/test";

import { expect, test } from "./fixtures.ts";

const screens = [
  { width: 390, height: 844, deviceScaleFactor: 3 },
  { width: 768, height: 1024, deviceScaleFactor: 2 },
  { width: 1440, height: 900, deviceScaleFactor: 1 },
];

/**
 * Each picture on the page that came as a rendition: its width, and how wide it is painted in device pixels.
 * One that fills its place is painted wider than its box.
 */
function widthsOf(page: Page) {
  return page.evaluate(() =>
    [...document.images].flatMap((image) => {
      const asked = /[?&]width=(\d+)/.exec(image.currentSrc)?.[1];
      const box = image.getBoundingClientRect();
      if (!asked || box.width === 0) return [];
      const ratio = image.width && image.naturalWidth / image.naturalHeight;
      const covers = getComputedStyle(image).objectFit === "cover";
      const painted = covers ? Math.max(box.width, box.height * ratio) : box.width;
      const widths = [...image.srcset.matchAll(/ (\d+)w/g)].map((found) => Number(found[1]));
      return [
        {
          file: image.currentSrc.replace(/^.*\//, ""),
          asked: Number(asked),
          painted: painted * devicePixelRatio,
          smallest: Math.min(...widths),
          largest: Math.max(...widths),
        },
      ];
    }),
  );
}

/** Goes down the page; at each step every picture near the screen has arrived, lazy ones too. */
async function walk(page: Page, look: () => Promise<void>) {
  for (let y = 0; y < (await page.evaluate(() => document.documentElement.scrollHeight));) {
    await page.evaluate((top) => scrollTo({ top, behavior: "instant" }), y);
    await arrived(page);
    await look();
    y += page.viewportSize()!.height;
  }
}

async function arrived(page: Page) {
  await page.waitForFunction(() => {
    const near = [...document.images].filter((image) => {
      const { top, bottom, width } = image.getBoundingClientRect();
      return width > 0 && bottom > 0 && top < innerHeight;
    });
    return near.every((image) => image.complete && !image.classList.contains("pending"));
  });
}

async function expectFitting(page: Page) {
  const widths = await widthsOf(page);
  expect(
    widths.filter(({ asked, painted, smallest }) => asked > painted * 1.3 && asked > smallest),
    "larger than shown × device pixels × 1.3",
  ).toEqual([]);
  // Nor blurred: the next rung below at most, and on the densest screens as on those of two device pixels.
  const least = (await page.evaluate(() => devicePixelRatio)) > 2.5 ? 0.6 : 0.85;
  expect(
    widths.filter(({ asked, painted, largest }) => asked < painted * least && asked < largest),
    "too small for where they are shown",
  ).toEqual([]);
  return widths.length;
}

/** The demo's pictures are made in the background after the server has started. */
test.beforeAll(async ({ demo }) => {
  await expect
    .poll(
      async () => {
        const rows = await Promise.all(
          ["products", "reviews", "cover_images"].map(async (table) => {
            const answer = await fetch(`${demo.url}/rest/v1/${table}?select=media`, {
              headers: { apikey: demo.anonKey },
            });
            return (await answer.json()) as {
              media: Record<string, { kind: string; color?: string }>;
            }[];
          }),
        );
        const all = rows.flat().flatMap(({ media }) => Object.values(media));
        return all.length > 20 && all.every(({ kind, color }) => kind === "video" || color);
      },
      { timeout: 120_000 },
    )
    .toBe(true);
});

for (const { width, height, deviceScaleFactor } of screens) {
  test.describe(`on a screen of ${width} × ${deviceScaleFactor}`, () => {
    test.use({ viewport: { width, height }, deviceScaleFactor });

    test("no picture is requested larger than it is shown", async ({ page, demo }) => {
      let seen = 0;
      const look = async () => void (seen += await expectFitting(page));
      await page.goto(demo.url);
      await expect(page.getByRole("button", { name: /^Open / }).first()).toBeVisible();
      await walk(page, look);
      await page.goto(`${demo.url}/gallery/all`);
      await expect(page.getByRole("button", { name: /^Open / }).first()).toBeVisible();
      await walk(page, look);
      await page
        .getByRole("button", { name: /^Open / })
        .first()
        .click();
      await expect(page.getByRole("dialog").getByRole("img").first()).toBeVisible();
      await arrived(page);
      await look();
      expect(seen).toBeGreaterThan(30);
    });
  });
}
