// When a page that the server has drawn asks for its scripts: once its first pictures are there, or its visitor is.
import type { Page } from "@playwright/test";

import { expect, hydrated, test } from "./fixtures.ts";
import { text } from "./texts.ts";

test.use({ viewport: { width: 390, height: 844 } });

/** Notes the scripts that a page asks for besides the first, which is small. */
function scriptsOf(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "script" && !/\/start-/.test(request.url()))
      asked.push(request.url());
  });
  return asked;
}

/** Opens the home page, whose first picture stays away until it is released. */
async function openWithoutPicture(page: Page, url: string): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((done) => (release = done));
  const first = page.waitForRequest(/\/cover-images\//);
  await page.route(/\/cover-images\//, async (route) => {
    await released;
    await route.continue();
  });
  const start = page.waitForResponse(/\/start-[^/]+\.js$/);
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await Promise.all([first, start]);
  return release;
}

test("scripts are asked for once the first picture is there", async ({ page, demo }) => {
  await page.clock.install(); // or a slow machine would be out of patience
  await page.clock.pauseAt(Date.now() + 1000);
  const asked = scriptsOf(page);
  const release = await openWithoutPicture(page, demo.url);
  await page.clock.runFor(3900);
  expect(asked).toEqual([]);
  release();
  const picture = page.locator("[data-hero] img").first();
  await expect(picture).toHaveJSProperty("complete", true);
  await expect
    .poll(async () => {
      await page.clock.runFor(20);
      return asked.length;
    })
    .toBeGreaterThan(1);
  expect(new Set(asked).size).toBe(asked.length);
});

test("a picture that takes longer than four seconds is not waited for", async ({ page, demo }) => {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1000);
  const asked = scriptsOf(page);
  const release = await openWithoutPicture(page, demo.url);
  expect(asked).toEqual([]);
  await page.clock.runFor(4000);
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  release();
});

test("what is pressed before is done when the scripts are there", async ({ page, demo }) => {
  const release = await openWithoutPicture(page, demo.url);
  await page.getByRole("button", { name: text("en", "nav.menu") }).click();
  await expect(page.getByRole("button", { name: text("en", "nav.close") })).toHaveAttribute(
    "aria-expanded",
    "true",
  );
  release();
});

for (const key of ["Tab", "ArrowDown"])
  test(`a visitor at the keyboard gets the scripts at once (${key})`, async ({ page, demo }) => {
    const release = await openWithoutPicture(page, demo.url);
    await page.keyboard.press(key);
    await hydrated(page);
    release();
  });

test.describe("a page whose picture cannot be had", () => {
  test.use({ allowedConsole: [/status of 404 .*\/cover-images\//] });

  test("gets its scripts", async ({ page, demo }) => {
    await page.route(/\/render\/.*\/cover-images\//, (route) => route.fulfill({ status: 404 }));
    await page.goto(demo.url);
    await hydrated(page);
  });
});
