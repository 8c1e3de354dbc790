// When a server-rendered page loads its scripts: after its first pictures, or at the first input.
import type { Page } from "@playwright/test";

import {
  expect,
  holdRequests,
  openWithPausedClock,
  stopClock,
  test,
  waitForHydration,
} from "./fixtures.ts";
import { text } from "./texts.ts";

test.use({ viewport: { width: 390, height: 844 } });

/** Records the scripts that a page requests after the small first one. */
function watchScripts(page: Page): string[] {
  const requestedScripts: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "script" && !/\/start-/.test(request.url()))
      requestedScripts.push(request.url());
  });
  return requestedScripts;
}

/** Opens the home page with a paused clock. Holds back its first picture until the returned function is called. */
async function openWithoutPicture(page: Page, url: string): Promise<() => void> {
  await stopClock(page);
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

test("P-weight-order: scripts are requested when the first picture has loaded", async ({
  page,
  demo,
}) => {
  const requestedScripts = watchScripts(page);
  const release = await openWithoutPicture(page, demo.url);
  await page.clock.runFor(1000);
  expect(requestedScripts).toEqual([]);
  release();
  await expect
    .poll(async () => {
      await page.clock.runFor(20);
      return requestedScripts.length;
    })
    .toBeGreaterThan(1);
  expect(await page.evaluate(() => performance.now())).toBeLessThan(4000);
  expect(new Set(requestedScripts).size).toBe(requestedScripts.length);
});

test("P-weight-order: scripts are requested after four seconds, even if the picture has not loaded", async ({
  page,
  demo,
}) => {
  const requestedScripts = watchScripts(page);
  const release = await openWithoutPicture(page, demo.url);
  await page.clock.runFor(3999);
  expect(requestedScripts).toEqual([]);
  await page.clock.runFor(1);
  await expect.poll(() => requestedScripts.length).toBeGreaterThan(1);
  release();
});

test("P-weight-order: a press before the scripts have loaded takes effect afterwards", async ({
  page,
  demo,
}) => {
  const release = await openWithoutPicture(page, demo.url);
  await page.getByRole("button", { name: text("en", "nav.menu") }).click();
  await expect(page.getByRole("button", { name: text("en", "nav.close") })).toHaveAttribute(
    "aria-expanded",
    "true",
  );
  release();
});

test("P-weight-order: a press that another action follows before the scripts have loaded takes no effect", async ({
  page,
  demo,
}) => {
  const come = await holdRequests(page, /\/assets\/index-/);
  const release = await openWithoutPicture(page, demo.url);
  await page.getByRole("button", { name: text("en", "nav.menu") }).click();
  await page.keyboard.press("Escape");
  come();
  await waitForHydration(page);
  await page.clock.runFor(1000);
  await expect(page.getByRole("button", { name: text("en", "nav.menu") })).toHaveAttribute(
    "aria-expanded",
    "false",
  );
  release();
});

test.describe("on a touch screen", () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 844 } });

  test("P-weight-order: a tap that another touch follows before the scripts have loaded takes no effect", async ({
    page,
    demo,
  }) => {
    const come = await holdRequests(page, /\/assets\/index-/);
    const release = await openWithoutPicture(page, demo.url);
    const menu = page.getByRole("button", { name: text("en", "nav.menu") });
    await menu.tap();
    const touch = await page.context().newCDPSession(page);
    const send = (type: "touchStart" | "touchMove" | "touchEnd", y = 0) =>
      touch.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchEnd" ? [] : [{ x: 200, y }],
      });
    await send("touchStart", 600);
    await send("touchMove", 500);
    await send("touchMove", 300);
    await send("touchEnd");
    come();
    await waitForHydration(page);
    await page.clock.runFor(1000);
    await expect(menu).toHaveAttribute("aria-expanded", "false");
    release();
  });
});

const signs: [string, (page: Page, requestedScripts: string[]) => Promise<void>][] = [
  ["a key", (page) => page.keyboard.press("ArrowDown")],
  [
    "the focus",
    (page) => page.locator("#contact").getByLabel(text("en", "contact.form.name")).focus(),
  ],
  [
    "the wheel",
    // Repeated until the browser's compositor knows the listeners, which takes a frame. Until then it drops the event.
    (page, requestedScripts) =>
      expect
        .poll(async () => {
          await page.mouse.wheel(0, 100);
          return requestedScripts.length;
        }, "requested scripts")
        .toBeGreaterThan(0),
  ],
  ["the pointer", (page) => page.mouse.move(100, 100)],
  [
    "a click of another program",
    (page) =>
      page.getByRole("button", { name: text("en", "nav.menu") }).evaluate((it: HTMLElement) => {
        it.click();
      }),
  ],
];
for (const [name, give] of signs)
  test(`P-weight-order: ${name} of a visitor loads the scripts immediately`, async ({
    page,
    demo,
  }) => {
    const requestedScripts = watchScripts(page);
    const release = await openWithoutPicture(page, demo.url);
    expect(requestedScripts).toEqual([]);
    await give(page, requestedScripts);
    await waitForHydration(page);
    release();
  });

for (const [name, address] of [
  ["a section", "/#contact"],
  ["a work", "/?art=none"],
])
  test(`P-weight-order: the URL of ${name} loads the scripts without waiting for a picture`, async ({
    page,
    demo,
  }) => {
    const release = await openWithoutPicture(page, demo.url + address);
    await waitForHydration(page);
    release();
  });

test.describe("a page whose picture cannot be loaded", () => {
  test.use({ allowedConsole: [/status of 404 .*\/cover-images\//] });

  test("P-weight-order: its scripts load", async ({ page, demo }) => {
    await page.route(/\/render\/.*\/cover-images\//, (route) => route.fulfill({ status: 404 }));
    await openWithPausedClock(page, demo.url);
    expect(await page.evaluate(() => performance.now())).toBeLessThan(4000);
  });
});
