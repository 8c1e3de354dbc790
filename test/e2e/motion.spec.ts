// Animations, and their absence if the visitor prefers reduced motion.
import type { Page } from "@playwright/test";

import type { Server } from "../harness/server.ts";
import { expect, openWithPausedClock, test } from "./fixtures.ts";
import { text } from "./texts.ts";

const stripTitle = text("en", "testimonials.trustedBy");
const aboutTitle = text("en", "about.title");

const hero = (page: Page) => page.getByRole("region", { name: text("en", "hero.label") });
const button = (page: Page, key: Parameters<typeof text>[1]) =>
  hero(page).getByRole("button", { name: text("en", key) });
const at = (page: Page, n: number) =>
  hero(page).getByText(text("en", "carousel.position", { n, total: 3 }), { exact: true });

async function openHome(page: Page, demo: Server): Promise<void> {
  await page.clock.install();
  await page.goto(demo.url);
  await expect(at(page, 1)).toBeAttached();
  // The form loads last. After it, the height of the page stays the same.
  await expect(page.getByLabel(text("en", "contact.form.message"))).toBeAttached();
}

/** Presses About and returns the scroll position right afterwards. */
const scrolledAtOnce = (page: Page) =>
  page
    .getByRole("banner")
    .getByRole("button", { name: text("en", "nav.about") })
    .evaluate((about: HTMLElement) => {
      about.click();
      return scrollY;
    });

test.describe("motion as designed", () => {
  test.use({ contextOptions: { reducedMotion: "no-preference" } });

  test("motion: a picture is followed by the next one after five seconds, and sections are reached by smooth scrolling", async ({
    page,
    demo,
  }) => {
    await openWithPausedClock(page, demo.url);
    await expect(at(page, 1)).toBeAttached();
    // The line of progress shows that the five seconds have begun.
    await expect(hero(page).locator(".animate-dwell")).toHaveCSS("animation-play-state", "running");
    await page.clock.runFor(4_900);
    await expect(at(page, 1)).toBeAttached();
    await page.clock.runFor(200);
    await expect(at(page, 2)).toBeAttached();
    await page.clock.resume();
    await expect(page.getByLabel(text("en", "contact.form.message"))).toBeAttached();
    expect(await scrolledAtOnce(page)).toBe(0);
    await expect(page.getByRole("heading", { name: aboutTitle })).toBeInViewport();
  });
});

test.describe("less motion", () => {
  test.use({ contextOptions: { reducedMotion: "reduce" } });

  test("reduced motion: the hero does not advance until Play is pressed", async ({
    page,
    demo,
  }) => {
    await openWithPausedClock(page, demo.url); // once the hero plays, a slow machine would show later pictures
    await expect(button(page, "hero.play")).toBeVisible();
    await page.clock.runFor(60_000);
    await expect(at(page, 1)).toBeAttached();

    // An arrow moves one step and stops the automatic change.
    await button(page, "hero.previous").click();
    await expect(at(page, 3)).toBeAttached();
    await page.clock.runFor(60_000);
    await expect(at(page, 3)).toBeAttached();

    await button(page, "hero.play").click();
    await expect(button(page, "hero.pause")).toBeVisible();
    await page.clock.runFor(5_500);
    await expect(at(page, 1)).toBeAttached();
  });

  test("reduced motion: a video plays only after Play, and stops on Pause", async ({
    page,
    demo,
  }) => {
    await openHome(page, demo);
    await button(page, "hero.next").click();
    await expect(at(page, 2)).toBeAttached();
    const film = hero(page).locator("video");
    await expect
      .poll(() => film.evaluate((v: HTMLVideoElement) => v.readyState))
      .toBeGreaterThan(1);
    await page.clock.runFor(10_000);
    expect(await film.evaluate((v: HTMLVideoElement) => v.paused)).toBe(true);
    expect(await film.evaluate((v: HTMLVideoElement) => v.currentTime)).toBe(0);

    await button(page, "hero.play").click();
    await page.clock.runFor(1_000);
    await expect.poll(() => film.evaluate((v: HTMLVideoElement) => v.paused)).toBe(false);
    await expect
      .poll(() => film.evaluate((v: HTMLVideoElement) => v.currentTime))
      .toBeGreaterThan(0);
    await button(page, "hero.pause").click();
    await page.clock.runFor(10_000);
    await expect.poll(() => film.evaluate((v: HTMLVideoElement) => v.paused)).toBe(true);
  });

  test("reduced motion: sections are reached without scrolling, from the same page and from another one", async ({
    page,
    demo,
  }) => {
    await openHome(page, demo);
    const end = await scrolledAtOnce(page);
    expect(end).toBeGreaterThan(1000);
    const heading = page.getByRole("heading", { name: aboutTitle });
    await expect(heading).toBeInViewport();
    expect(await page.evaluate(() => scrollY)).toBe(end);

    await page.goto(`${demo.url}/gallery`);
    await page
      .getByRole("banner")
      .getByRole("button", { name: text("en", "nav.about") })
      .click();
    await expect(page).toHaveURL(`${demo.url}/`);
    await expect(heading).toBeAttached();
    await page.clock.runFor(150);
    await expect(heading).toBeInViewport();
  });

  test("reduced motion: nothing fades, slides or rotates", async ({ page, demo }) => {
    await page.goto(demo.url);
    await page.getByRole("button", { name: /Beatriz/ }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
    const slow = await page.evaluate(() =>
      [...document.querySelectorAll("body *")]
        .map((element) => {
          const { animationDuration, transitionDuration } = getComputedStyle(element);
          const times = `${animationDuration}, ${transitionDuration}`.split(", ").map(parseFloat);
          return { element: element.outerHTML.slice(0, 80), longest: Math.max(...times) };
        })
        .filter(({ longest }) => longest > 0.001),
    );
    expect(slow).toEqual([]);
  });

  test("reduced motion: the strip of works changes without sliding", async ({ page, demo }) => {
    await openHome(page, demo);
    const strip = page.getByRole("region", { name: stripTitle });
    const first = strip.getByRole("listitem").first();
    const seen = await first.evaluateHandle((card) => {
      const places = new Set<number>();
      const look = () => {
        places.add(Math.round(card.getBoundingClientRect().x));
        requestAnimationFrame(look);
      };
      look();
      return places;
    });
    await strip
      .getByRole("button", { name: text("en", "carousel.next"), exact: true })
      .first()
      .click();
    const places = () => seen.evaluate((all) => [...all]);
    await expect.poll(async () => (await places()).length).toBe(2);
    const [before, after] = await places();
    expect(after).toBeLessThan(before! - 100);
    // No slide in between was shown, and no further movement follows.
    await page.clock.runFor(3_000);
    expect(await places()).toEqual([before, after]);
  });
});
