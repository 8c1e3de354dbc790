import { describe, expect, test } from "vitest";
import { HERO_DWELL_MS, VIDEO_RETRY_DELAYS_MS, VIDEO_START_DELAY_MS } from "@/lib/constants";
import { createHeroController, type Clock } from "@/features/hero/hero-controller";
import type { SlideKind } from "@/features/hero/hero-machine";

function fakeClock() {
  let time = 0;
  let nextId = 1;
  const due = new Map<number, { at: number; run: () => void }>();
  const clock: Clock = {
    now: () => time,
    set(run, ms) {
      due.set(nextId, { at: time + ms, run });
      return nextId++;
    },
    clear: (id) => void due.delete(id),
  };
  function pass(ms: number) {
    const end = time + ms;
    for (;;) {
      const next = [...due]
        .filter(([, timer]) => timer.at <= end)
        .sort((a, b) => a[1].at - b[1].at)[0];
      if (!next) break;
      due.delete(next[0]);
      time = next[1].at;
      next[1].run();
    }
    time = end;
  }
  return { clock, pass, pending: () => due.size };
}

/** Makes a carousel that loops without animation, and a log of the calls to the films. */
function makeCarousel(kinds: SlideKind[], refuses = false) {
  const fake = fakeClock();
  const log: string[] = [];
  const hero = createHeroController(fake.clock, {
    advance() {
      log.push("advance");
      select((hero.getState().index + 1) % kinds.length);
    },
    async play(index, fromStart) {
      log.push(`play ${index}${fromStart ? " from start" : ""}`);
      if (refuses) throw new DOMException("not allowed", "NotAllowedError");
    },
    pause: (index) => void log.push(`pause ${index}`),
  });
  function select(index: number) {
    hero.send({ type: "select", index });
  }
  hero.send({ type: "slides", slides: kinds });
  return { ...fake, hero, select, log, index: () => hero.getState().index };
}

describe("image slides", () => {
  test("advance after five seconds, and loop", () => {
    const { pass, index } = makeCarousel(["image", "image"]);
    pass(HERO_DWELL_MS - 1);
    expect(index()).toBe(0);
    pass(1);
    expect(index()).toBe(1);
    pass(HERO_DWELL_MS);
    expect(index()).toBe(0);
  });

  test("a single image stays", () => {
    const { pass, log, pending } = makeCarousel(["image"]);
    expect(pending()).toBe(0);
    pass(60_000);
    expect(log).toEqual([]);
  });

  test("sets no timer without slides", () => {
    expect(makeCarousel([]).pending()).toBe(0);
  });

  test("an arrow cancels the dwell timer, and the new image starts another", () => {
    const { hero, pass, select, index, pending } = makeCarousel(["image", "image", "image"]);
    pass(4900);
    hero.send({ type: "arrow" });
    expect(pending()).toBe(0);
    expect(hero.getState().dwellLeft).toBeNull();
    select(1);
    pass(HERO_DWELL_MS - 1);
    expect(index()).toBe(1);
    pass(1);
    expect(index()).toBe(2);
  });

  test("a drag to another slide restarts the dwell time", () => {
    const { hero, pass, select, index } = makeCarousel(["image", "image", "image"]);
    pass(4000);
    hero.send({ type: "hold", source: "drag", on: true });
    pass(10_000);
    select(1);
    expect(index()).toBe(1);
    hero.send({ type: "hold", source: "drag", on: false });
    pass(4999);
    expect(index()).toBe(1);
    pass(1);
    expect(index()).toBe(2);
  });

  test("the pause button stops until it is pressed again, also across arrows; Play resumes the remaining time", () => {
    const { hero, pass, select, index } = makeCarousel(["image", "image", "image"]);
    pass(3000);
    hero.send({ type: "toggle" });
    pass(60_000);
    expect(index()).toBe(0);
    hero.send({ type: "toggle" });
    pass(1999);
    expect(index()).toBe(0);
    pass(1);
    expect(index()).toBe(1);
    hero.send({ type: "toggle" });
    hero.send({ type: "arrow" });
    select(2);
    pass(60_000);
    expect(index()).toBe(2);
  });

  test("hover and focus hold the dwell time, alone or together", () => {
    const { hero, pass, index } = makeCarousel(["image", "image"]);
    pass(2000);
    hero.send({ type: "hold", source: "pointer", on: true });
    hero.send({ type: "hold", source: "focus", on: true });
    pass(60_000);
    hero.send({ type: "hold", source: "pointer", on: false });
    pass(60_000);
    expect(index()).toBe(0);
    hero.send({ type: "hold", source: "focus", on: false });
    pass(3000);
    expect(index()).toBe(1);
  });

  test("a pointer that stays on a pressed arrow does not hold the next image", () => {
    const { hero, pass, select, index } = makeCarousel(["image", "image", "image"]);
    hero.send({ type: "hold", source: "pointer", on: true });
    hero.send({ type: "arrow" });
    select(1);
    pass(HERO_DWELL_MS);
    expect(index()).toBe(2);
  });

  test("a hidden page stops the dwell time", () => {
    const { hero, pass, index } = makeCarousel(["image", "image"]);
    pass(1000);
    hero.send({ type: "page", hidden: true });
    pass(60_000);
    expect(index()).toBe(0);
    hero.send({ type: "page", hidden: false });
    pass(4000);
    expect(index()).toBe(1);
  });

  test("reduced motion: nothing moves until Play", () => {
    const { hero, pass, index } = makeCarousel(["image", "image"]);
    hero.send({ type: "motion", reduced: true });
    pass(60_000);
    expect(index()).toBe(0);
    hero.send({ type: "toggle" });
    pass(HERO_DWELL_MS);
    expect(index()).toBe(1);
  });

  test("the end of reduced motion resumes a hero that it has paused, and not one that the visitor has paused", () => {
    const { hero, pass, index } = makeCarousel(["image", "image"]);
    hero.send({ type: "motion", reduced: true });
    hero.send({ type: "motion", reduced: false });
    pass(HERO_DWELL_MS);
    expect(index()).toBe(1);
    hero.send({ type: "toggle" });
    hero.send({ type: "motion", reduced: true });
    hero.send({ type: "motion", reduced: false });
    pass(60_000);
    expect(index()).toBe(1);
    hero.send({ type: "toggle" });
    pass(HERO_DWELL_MS);
    expect(index()).toBe(0);
  });
});

describe("film slides", () => {
  test("start 80 ms after the selection, from the beginning, and do not advance", () => {
    const { pass, select, log, index } = makeCarousel(["image", "video"]);
    select(1);
    pass(VIDEO_START_DELAY_MS - 1);
    expect(log).toEqual([]);
    pass(1);
    expect(log).toEqual(["play 1 from start"]);
    pass(60_000);
    expect(index()).toBe(1);
  });

  test("pause when their slide is left; leaving early never starts the video", () => {
    const { pass, select, log } = makeCarousel(["image", "video"]);
    select(1);
    pass(VIDEO_START_DELAY_MS);
    select(0);
    expect(log).toEqual(["play 1 from start", "pause 1"]);
    select(1);
    pass(VIDEO_START_DELAY_MS - 1);
    select(0);
    pass(1000);
    expect(log.slice(2)).toEqual(["pause 1"]);
  });

  test("start from the beginning when their slide is selected again", () => {
    const { pass, select, log } = makeCarousel(["video", "image"]);
    pass(VIDEO_START_DELAY_MS);
    select(1);
    select(0);
    pass(VIDEO_START_DELAY_MS);
    expect(log).toEqual(["play 0 from start", "pause 0", "play 0 from start"]);
  });

  test("pause on a hidden page and below 35 percent visibility, and continue where they stopped", () => {
    const { hero, pass, log } = makeCarousel(["video"]);
    pass(VIDEO_START_DELAY_MS);
    hero.send({ type: "page", hidden: true });
    hero.send({ type: "page", hidden: false });
    pass(0);
    hero.send({ type: "view", inView: false });
    hero.send({ type: "view", inView: true });
    pass(0);
    expect(log).toEqual(["play 0 from start", "pause 0", "play 0", "pause 0", "play 0"]);
  });

  test("selected while the page loads: starts from the beginning when the page has loaded", () => {
    const { hero, select, pass, log } = makeCarousel(["image", "video"]);
    hero.send({ type: "load", loading: true });
    select(1);
    pass(60_000);
    expect(log).toEqual([]);
    hero.send({ type: "load", loading: false });
    pass(VIDEO_START_DELAY_MS - 1);
    expect(log).toEqual([]);
    pass(1);
    expect(log).toEqual(["play 1 from start"]);
  });

  test("selected while out of view: starts from the beginning when it comes into view", () => {
    const { hero, pass, select, log } = makeCarousel(["image", "video"]);
    hero.send({ type: "view", inView: false });
    select(1);
    pass(1000);
    expect(log).toEqual([]);
    hero.send({ type: "view", inView: true });
    pass(VIDEO_START_DELAY_MS);
    expect(log).toEqual(["play 1 from start"]);
  });

  test("stopped although it should play: four more attempts after 120, 240, 400 and 600 ms", () => {
    const { hero, pass, log, pending } = makeCarousel(["video"]);
    pass(VIDEO_START_DELAY_MS);
    for (const delay of VIDEO_RETRY_DELAYS_MS) {
      const before = log.length;
      hero.send({ type: "video-stopped", index: 0 });
      pass(delay - 1);
      expect(log.length).toBe(before);
      pass(1);
      expect(log.slice(before)).toEqual(["play 0"]);
    }
    hero.send({ type: "video-stopped", index: 0 });
    expect(pending()).toBe(0);
    pass(60_000);
    expect(log).toHaveLength(1 + VIDEO_RETRY_DELAYS_MS.length);
    expect(hero.getState().video).toBe("refused");
  });

  test("a browser that refuses to play is asked five times in all", async () => {
    const { hero, pass, log } = makeCarousel(["video"], true);
    for (const delay of [VIDEO_START_DELAY_MS, ...VIDEO_RETRY_DELAYS_MS, 10_000]) {
      pass(delay);
      await Promise.resolve();
    }
    expect(log).toEqual(["play 0 from start", "play 0", "play 0", "play 0", "play 0"]);
    expect(hero.getState().video).toBe("refused");
  });

  test("P-8: a click plays immediately a video that the browser refused to start, without a timer", async () => {
    const { hero, pass, log, pending } = makeCarousel(["video"], true);
    for (const delay of [VIDEO_START_DELAY_MS, ...VIDEO_RETRY_DELAYS_MS]) {
      pass(delay);
      await Promise.resolve();
    }
    expect(hero.getState()).toMatchObject({ video: "refused", paused: false });
    hero.send({ type: "toggle" });
    expect([log.length, pending(), hero.getState().paused]).toEqual([6, 0, false]);
  });

  test("a late event of the previous slide has no effect", () => {
    const { hero, pass, select, log, pending } = makeCarousel(["video", "video"]);
    pass(VIDEO_START_DELAY_MS);
    select(1);
    pass(VIDEO_START_DELAY_MS);
    hero.send({ type: "video-stopped", index: 0 });
    expect(pending()).toBe(0);
    expect(log.at(-1)).toBe("play 1 from start");
  });

  test("a stop that is reported twice causes one retry", () => {
    const { hero, pass, log } = makeCarousel(["video"]);
    pass(VIDEO_START_DELAY_MS);
    hero.send({ type: "video-stopped", index: 0 });
    hero.send({ type: "video-stopped", index: 0 });
    pass(1000);
    expect(log).toEqual(["play 0 from start", "play 0"]);
  });

  test("leaving the slide ends the retries, and the next selection has four again", () => {
    const { hero, pass, select, log } = makeCarousel(["video", "video"]);
    pass(VIDEO_START_DELAY_MS);
    hero.send({ type: "video-stopped", index: 0 });
    select(1);
    pass(VIDEO_START_DELAY_MS);
    expect(log).toEqual(["play 0 from start", "pause 0", "play 1 from start"]);
    expect(hero.getState().retries).toBe(0);
  });

  test("the button pauses and plays; a pause by the program is not treated as a stop", () => {
    const { hero, pass, log, pending } = makeCarousel(["video"]);
    pass(VIDEO_START_DELAY_MS);
    hero.send({ type: "toggle" });
    hero.send({ type: "video-stopped", index: 0 });
    expect(pending()).toBe(0);
    hero.send({ type: "toggle" });
    pass(0);
    expect(log).toEqual(["play 0 from start", "pause 0", "play 0"]);
  });

  test("reduced motion: the video waits for Play", () => {
    const { hero, pass, log } = makeCarousel(["video"]);
    hero.send({ type: "motion", reduced: true });
    pass(60_000);
    hero.send({ type: "toggle" });
    pass(VIDEO_START_DELAY_MS);
    expect(log.at(-1)).toBe("play 0 from start");
    expect(log.filter((entry) => entry.startsWith("play"))).toHaveLength(1);
  });
});

test("stop() ends all timers, and the next slides start again", () => {
  const { hero, pass, pending, index } = makeCarousel(["image", "image"]);
  hero.stop();
  expect(pending()).toBe(0);
  hero.send({ type: "slides", slides: ["image", "image"] });
  pass(HERO_DWELL_MS);
  expect(index()).toBe(1);
});

test("with fewer slides than before the index stays valid", () => {
  const { hero, select, index } = makeCarousel(["image", "image", "image"]);
  select(2);
  hero.send({ type: "slides", slides: ["image"] });
  expect(index()).toBe(0);
});
