// The hero with a real video: timers use the page's clock, playback and visibility are real.
import type { Page } from "@playwright/test";

import { startServer } from "../harness/server.ts";
import {
  renderInBrowser,
  expect,
  openWithPausedClock,
  stopClock,
  test,
  waitForHydration,
} from "./fixtures.ts";
import { withVisibleTabs } from "./real-tabs.ts";

/** HTMLMediaElement.HAVE_CURRENT_DATA: a frame can be shown. */
const HAVE_CURRENT_DATA = 2;

declare global {
  interface Window {
    plays: { at: number; from: number; muted: boolean }[];
  }
}

const hero = (page: Page) => page.getByRole("region", { name: "Featured covers" });
const film = (page: Page) => hero(page).locator("video");
const next = (page: Page) => page.getByRole("button", { name: "Next slide" });
const previous = (page: Page) => page.getByRole("button", { name: "Previous slide" });
const position = (page: Page) => hero(page).getByText(/^\d \/ \d$/);
const isPlaying = (page: Page) =>
  film(page).evaluate((video: HTMLVideoElement) => !video.paused && video.currentTime > 0);
const plays = (page: Page) => page.evaluate(() => window.plays);

/** Records by the page's clock when the page starts a video. The video plays as usual. */
async function watchPlays(page: Page) {
  await page.addInitScript(() => {
    window.plays = [];
    const play = HTMLMediaElement.prototype.play;
    HTMLMediaElement.prototype.play = function () {
      window.plays.push({ at: performance.now(), from: this.currentTime, muted: this.muted });
      return play.call(this);
    };
  });
}

const dwellLine = (page: Page) => hero(page).locator(".animate-dwell");

/**
 * Opens the page with a paused clock. On a slow machine the time of the first cover would otherwise end before the test
 * begins.
 */
async function openPage(page: Page, url: string) {
  await watchPlays(page);
  await openWithPausedClock(page, url);
  await expect(position(page)).toHaveText("1 / 3");
  await expect(dwellLine(page)).toHaveCSS("animation-play-state", "running");
}

test("S2-home-1 S4-hero-1: the hero starts with the first cover, shows its title and links to the gallery", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await expect(hero(page).getByText("Winter sun, for a street that faces north")).toBeVisible();
  await expect(hero(page).getByText("Night on the quay")).toBeHidden();
  const box = await hero(page).boundingBox();
  expect(box).toMatchObject({ x: 0, y: 0, width: 1280, height: 720 });
  await page.clock.resume();
  await hero(page).getByRole("link", { name: "Explore Gallery" }).click();
  await expect(page).toHaveURL(`${demo.url}/gallery/all`);
});

test("S4-hero-1 S4-hero-2: a picture is followed by the next one after five seconds, the last by the first", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await previous(page).click();
  await expect(position(page)).toHaveText("3 / 3");
  await page.clock.runFor(4999);
  await expect(position(page)).toHaveText("3 / 3");
  await page.clock.runFor(1);
  await expect(position(page)).toHaveText("1 / 3");
});

test("a press before the carousel's code has loaded takes effect afterwards", async ({
  page,
  demo,
}) => {
  let arrive = () => {};
  const requested = new Promise<void>((done) => {
    void page.route(/carousel-driver-.*\.js$/, async (route) => {
      done();
      await new Promise<void>((go) => (arrive = go));
      await route.continue();
    });
  });
  await openPage(page, demo.url);
  await next(page).click();
  await requested;
  await page.keyboard.press("ArrowRight");
  await expect(position(page)).toHaveText("1 / 3");
  arrive();
  await expect(position(page)).toHaveText("3 / 3");
  await expect(hero(page).getByText("Winter sun, for a street that faces north")).toBeHidden();
});

test("S4-hero-10: an arrow ends the running time, and the new picture gets five seconds of its own", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await previous(page).click();
  await expect(position(page)).toHaveText("3 / 3"); // not before the carousel's code has loaded
  await page.clock.runFor(4900);
  await next(page).click();
  await expect(position(page)).toHaveText("1 / 3");
  await page.clock.runFor(4999);
  await expect(position(page)).toHaveText("1 / 3");
  await page.clock.runFor(1);
  await expect(position(page)).toHaveText("2 / 3");
});

test("S4-hero-3: a video starts 80 ms after it is selected, muted and from its beginning, and does not advance", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await next(page).click();
  await expect(position(page)).toHaveText("2 / 3");
  await page.clock.runFor(79);
  expect(await plays(page)).toEqual([]);
  await page.clock.runFor(1);
  expect(await plays(page)).toEqual([{ at: expect.any(Number), from: 0, muted: true }]);
  await expect.poll(() => isPlaying(page)).toBe(true);
  await page.clock.runFor(60_000);
  await expect(position(page)).toHaveText("2 / 3");
  expect(
    await film(page).evaluate(({ loop, playsInline, controls }: HTMLVideoElement) => ({
      loop,
      playsInline,
      controls,
    })),
  ).toEqual({ loop: true, playsInline: true, controls: false });
});

test("S4-hero-4: a video pauses when another cover is selected, and starts from its beginning on return", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await next(page).click();
  await expect(position(page)).toHaveText("2 / 3");
  await page.clock.runFor(80);
  await expect.poll(() => isPlaying(page)).toBe(true);
  await next(page).click();
  await expect.poll(() => isPlaying(page)).toBe(false);
  await page.clock.runFor(1000);
  await previous(page).click();
  await expect(position(page)).toHaveText("2 / 3");
  await page.clock.runFor(80);
  await expect.poll(() => isPlaying(page)).toBe(true);
  expect((await plays(page)).map(({ from }) => from)).toEqual([0, 0]);
});

test("S4-hero-4: a video pauses while the page is hidden", async ({ demo, launchOptions }) => {
  await withVisibleTabs(launchOptions, async (context) => {
    const page = await context.newPage();
    await page.goto(demo.url);
    await next(page).click();
    await expect.poll(() => isPlaying(page)).toBe(true);
    const other = await context.newPage();
    await other.bringToFront();
    await expect.poll(() => page.evaluate(() => document.visibilityState)).toBe("hidden");
    await expect.poll(() => isPlaying(page)).toBe(false);
    await page.bringToFront();
    await expect.poll(() => isPlaying(page)).toBe(true);
  });
});

test("S4-hero-4: a video pauses when less than 35 percent of it is visible", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await next(page).click();
  await expect.poll(() => isPlaying(page)).toBe(true);
  const leave = (part: number) =>
    page.evaluate((share) => {
      scrollTo({ top: innerHeight * (1 - share), behavior: "instant" });
    }, part);
  await leave(0.37);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(400);
  await expect.poll(() => isPlaying(page)).toBe(true);
  await leave(0.33);
  await expect.poll(() => isPlaying(page)).toBe(false);
  await leave(0.37);
  await expect.poll(() => isPlaying(page)).toBe(true);
});

test("S4-hero-8: a stopped video is started again after 120, 240, 400 and 600 ms, at most four times", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await next(page).click();
  await expect(position(page)).toHaveText("2 / 3");
  await page.clock.runFor(80);
  const stop = () =>
    film(page).evaluate(
      (video: HTMLVideoElement) =>
        new Promise((done) => {
          video.addEventListener("pause", done, { once: true });
          video.pause();
        }),
    );
  for (const [n, delay] of [120, 240, 400, 600].entries()) {
    await expect.poll(() => isPlaying(page)).toBe(true);
    await stop();
    await page.clock.runFor(delay - 1);
    expect(await plays(page)).toHaveLength(n + 1);
    await page.clock.runFor(1);
    expect(await plays(page)).toHaveLength(n + 2);
  }
  await expect.poll(() => isPlaying(page)).toBe(true);
  await stop();
  await page.clock.runFor(60_000);
  expect(await plays(page)).toHaveLength(5);
});

test("S4-hero-11: the pause button stops the slideshow and videos, and a pointer over the controls keeps a picture", async ({
  page,
  demo,
}) => {
  await openPage(page, demo.url);
  await previous(page).click();
  await expect(position(page)).toHaveText("3 / 3");
  await page.mouse.move(640, 100);
  await position(page).hover();
  await page.clock.runFor(20_000);
  await expect(position(page)).toHaveText("3 / 3");
  await page.mouse.move(640, 100);
  await page.clock.runFor(5000);
  await expect(position(page)).toHaveText("1 / 3");

  await page.getByRole("button", { name: "Pause slideshow" }).click();
  await page.mouse.move(640, 100);
  await page.clock.runFor(20_000);
  await expect(position(page)).toHaveText("1 / 3");
  await next(page).click();
  await expect(position(page)).toHaveText("2 / 3");
  await page.clock.runFor(1000);
  expect(await plays(page)).toEqual([]);
  await page.getByRole("button", { name: "Play slideshow" }).click();
  await page.clock.runFor(80);
  await expect.poll(() => isPlaying(page)).toBe(true);
});

test("S4-carousel-1: arrow keys and dragging move the covers", async ({ page, demo }) => {
  await openPage(page, demo.url);
  await next(page).focus();
  await expect(dwellLine(page)).toHaveCSS("animation-play-state", "paused"); // the focus stops the time of the cover
  await page.clock.resume();
  await page.keyboard.press("ArrowRight");
  await expect(position(page)).toHaveText("2 / 3");
  await page.keyboard.press("ArrowLeft");
  await expect(position(page)).toHaveText("1 / 3");
  // Wait until the carousel rests.
  await expect
    .poll(() =>
      hero(page)
        .getByRole("group", { name: "1 of 3", includeHidden: true })
        .evaluate((slide) => Math.round(slide.getBoundingClientRect().left)),
    )
    .toBe(0);
  await page.mouse.move(1050, 300);
  await page.mouse.down();
  await page.mouse.move(200, 300, { steps: 8 });
  await page.mouse.up();
  await expect(position(page)).toHaveText("2 / 3");
});

test.describe("when the covers cannot be read", () => {
  test.use({
    allowedConsole: [/status of 500 .*\/cover_images|The covers could not be loaded/],
  });

  test("S8-hero-1: covers that cannot be loaded are requested three times more; then an error is logged and no hero is shown", async ({
    page,
    demo,
  }) => {
    let requested = 0;
    let response = () => {};
    const logged: string[] = [];
    page.on("console", (line) => logged.push(line.text()));
    await renderInBrowser(page);
    await page.route("**/rest/v1/cover_images*", async (route) => {
      requested++;
      // Each request gets its response only after the test has counted it. Otherwise the next request could arrive before.
      await new Promise<void>((go) => (response = go));
      await route.fulfill({ status: 500, json: { message: "broken" } });
    });
    await page.clock.install();
    await page.goto(demo.url);
    for (const [n, delay] of [1000, 2000, 4000].entries()) {
      await expect.poll(() => requested, "requests for the covers").toBe(n + 1);
      response();
      await page.clock.fastForward(delay);
    }
    await expect.poll(() => requested, "requests for the covers").toBe(4);
    response();
    await expect(hero(page)).toHaveCount(0);
    await expect(page.getByRole("heading", { name: "Get in Touch" })).toBeAttached();
    const coverErrors = () => logged.filter((line) => line.startsWith("The covers could"));
    await expect.poll(coverErrors, "log entries").toHaveLength(1);
    await page.clock.fastForward(60_000);
    expect(requested).toBe(4);
    expect(coverErrors()).toHaveLength(1);
  });
});

test("P-weight-film: a video waits until the page has loaded, even if it is selected before", async ({
  page,
  demo,
}) => {
  const films: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith(".mp4")) films.push(request.url());
  });
  let arrive = () => {};
  const arrived = new Promise<void>((done) => (arrive = done));
  await page.route(/\/cover-images\//, async (route) => {
    // The picture of the first cover is held back. The video is not, so it would be shown at once.
    if (!route.request().url().endsWith(".mp4")) await arrived;
    await route.continue();
  });
  await stopClock(page); // otherwise a slow start would use up the time of the first cover
  await page.goto(demo.url, { waitUntil: "domcontentloaded" });
  await page.clock.runFor(4000); // from now on the scripts do not wait for the picture
  await waitForHydration(page);
  await next(page).click();
  await expect(position(page)).toHaveText("2 / 3");
  await page.clock.runFor(1000);
  expect(await page.evaluate(() => document.readyState)).toBe("interactive");
  expect(films).toEqual([]);
  arrive();
  await page.waitForLoadState("load");
  await page.clock.resume();
  await expect.poll(() => isPlaying(page)).toBe(true);
});

test("P-weight-later P-weight-film: without a visitor's move the next cover is loaded when it is due, and its video then", async ({
  page,
  demo,
}) => {
  const requested: string[] = [];
  page.on("request", (request) => {
    const found = /cover-images\/demo\/([\w.-]+)/.exec(request.url());
    if (found) requested.push(found[1]!);
  });
  await openPage(page, demo.url);
  await page.waitForLoadState("networkidle");
  expect(requested).toEqual(["mu-sol.jpg"]);
  await page.clock.runFor(2000);
  await page.waitForLoadState("networkidle");
  expect(requested).toEqual(["mu-sol.jpg"]);
  await page.clock.runFor(1000); // the last 2.5 seconds have begun
  // The demo's video has no still, so its first frame is loaded.
  await expect
    .poll(() => film(page).evaluate((video: HTMLVideoElement) => video.readyState))
    .toBeGreaterThanOrEqual(HAVE_CURRENT_DATA);
  expect(await film(page).evaluate((video: HTMLVideoElement) => video.paused)).toBe(true);
  await expect(position(page)).toHaveText("1 / 3");
  await page.clock.runFor(3000);
  await expect(position(page)).toHaveText("2 / 3");
  await expect.poll(() => isPlaying(page)).toBe(true);
  // The third cover is not requested, because a video stays until the visitor leaves it.
  expect(new Set(requested)).toEqual(new Set(["mu-sol.jpg", "noite-no-cais.mp4"]));
});

test.describe("when the film cannot be loaded", () => {
  test.use({ allowedConsole: [/net::ERR_FAILED|The cover video could not be loaded/] });

  test("S8-video-1: a video that cannot be loaded is only logged", async ({ page, demo }) => {
    const logged: string[] = [];
    page.on("console", (line) => logged.push(line.text()));
    await page.route("**/*.mp4", (route) => route.abort());
    await page.goto(demo.url);
    await expect
      .poll(() => logged.filter((line) => line.startsWith("The cover video")).length)
      .toBeGreaterThan(0);
    await next(page).click();
    await expect(position(page)).toHaveText("2 / 3");
    await expect(hero(page).getByText("Night on the quay")).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  });
});

test("S8-empty-1: without covers, works and reviews their sections are absent, and the other sections are shown", async ({
  page,
}) => {
  const server = await startServer("sqlite");
  try {
    await page.goto(server.url);
    await expect(hero(page)).toHaveCount(0);
    await expect(page.getByText("Trusted by 500+ clients")).toHaveCount(0);
    await expect(page.locator("#testimonials")).toHaveCount(0);
    await expect(page.locator("main section")).toHaveCount(2);
    await expect(page.locator("#about")).toBeVisible();
    await expect(page.locator("#contact")).toBeVisible();
  } finally {
    await page.close(); // its later chunks are still loading
    await server.stop();
  }
});
