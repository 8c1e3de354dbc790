import { HERO_DWELL_MS, VIDEO_RETRY_DELAYS_MS, VIDEO_START_DELAY_MS } from "@/lib/constants";

// The rules of the hero (docs/product.md, Hero), the carousel of pictures and videos at the top of the home page, as a pure state
// machine. heroStep takes the state, an event and its time, and returns the new state and a list of commands. hero-controller.ts
// executes the commands.
//
// A slide with a picture is shown for its dwell time, and then the next slide follows. A slide with a video stays and plays the
// video while it is in view.

/** Whether a slide shows a picture or a video. */
export type SlideKind = "image" | "video";

/**
 * A hold stops the dwell timer while it lasts. Its source is the pointer over the carousel, the focus in it, or a drag. The
 * pause button is not a hold.
 */
export type HoldSource = "pointer" | "focus" | "drag";

/** The state of the hero carousel. */
export type HeroState = {
  slides: readonly SlideKind[];
  /** The selected slide. */
  index: number;
  /** Whether the hero is paused, by the pause button or by the visitor's setting for reduced motion. */
  paused: boolean;
  /** Whether the pause button has paused the hero. Then the end of reduced motion does not resume the hero. */
  stopped: boolean;
  /** The sources of the holds that have not ended. */
  holds: readonly HoldSource[];
  /** Whether the tab is in the background. */
  pageHidden: boolean;
  /** Whether enough of the hero is on the screen to play a video. */
  inView: boolean;
  /** Whether the page is still loading. Videos load only after the page. */
  pageLoading: boolean;
  /**
   * The dwell time that was left when the dwell timer last started or stopped, in milliseconds. A new slide has the full time. Null
   * while the slide changes: from the click on an arrow, or from the end of the time, until the next slide is selected.
   */
  dwellLeft: number | null;
  /** When the dwell timer was started, in milliseconds of the caller's clock; null while it is stopped. */
  dwellSince: number | null;
  /** A serial number of the dwell time. Each selected slide gets a new number. A resumed dwell time keeps its number. */
  dwell: number;
  /**
   * The video of the slide:
   * - "off": there is none, or it must not play
   * - "waiting": it will start when the video timer ends
   * - "playing": it plays, or the browser is starting it
   * - "retrying": it has stopped by itself or has not started, and will be tried again
   * - "refused": the browser has not played it after all retries
   */
  video: "off" | "waiting" | "playing" | "retrying" | "refused";
  /** Whether the next start of the video is from its beginning. True until the video first plays after its slide was selected. */
  fromStart: boolean;
  /** How many times the video was tried again. A change of slide, pause or visibility sets it to 0. */
  retries: number;
};

/** What happens to the hero: input of the visitor, changes of the page, the end of a timer, and events of the video. */
export type HeroEvent =
  /** The slides have been set or changed. */
  | { type: "slides"; slides: readonly SlideKind[] }
  /** The carousel has selected a slide. */
  | { type: "select"; index: number }
  /** An arrow button was clicked; a "select" event with the new index follows. */
  | { type: "arrow" }
  /** The pause button was clicked. */
  | { type: "toggle" }
  /** A hold begins (`on`) or ends. */
  | { type: "hold"; source: HoldSource; on: boolean }
  /** pageHidden, inView, pageLoading or the setting for reduced motion has changed. */
  | { type: "page"; hidden: boolean }
  | { type: "view"; inView: boolean }
  | { type: "load"; loading: boolean }
  | { type: "motion"; reduced: boolean }
  /** The dwell timer or the video timer has ended. */
  | { type: "dwell-over" }
  | { type: "video-due" }
  /** The video of a slide has started or stopped. */
  | { type: "video-playing"; index: number }
  | { type: "video-stopped"; index: number };

/** The timers of the state machine: the end of the dwell time, and the next attempt to play a video. */
export type Timer = "dwell" | "video";

/** What to do for a new state. "arm" starts a timer of `after` milliseconds; "advance" moves to the next slide. */
export type HeroCommand =
  | { do: "arm"; timer: Timer; after: number }
  | { do: "cancel"; timer: Timer }
  | { do: "advance" }
  | { do: "play"; index: number; fromStart: boolean }
  | { do: "pause"; index: number };

/** The state before the slides are known. */
export const initialHero: HeroState = {
  slides: [],
  index: 0,
  paused: false,
  stopped: false,
  holds: [],
  pageHidden: false,
  inView: true,
  pageLoading: false,
  dwellLeft: null,
  dwellSince: null,
  dwell: 0,
  video: "off",
  fromStart: false,
  retries: 0,
};

const kindAt = (state: HeroState): SlideKind | undefined => state.slides[state.index];

function dwellShouldRun(state: HeroState): boolean {
  return (
    state.slides.length > 1 &&
    kindAt(state) === "image" &&
    state.dwellLeft !== null &&
    !state.paused &&
    state.holds.length === 0 &&
    !state.pageHidden
  );
}

function videoShouldPlay(state: HeroState): boolean {
  return (
    kindAt(state) === "video" &&
    !state.paused &&
    !state.pageHidden &&
    state.inView &&
    !state.pageLoading
  );
}

/** The new state and the commands to execute. */
type Step = readonly [HeroState, readonly HeroCommand[]];

/** Handles one event; `now` is the time of the event in milliseconds. */
export function heroStep(state: HeroState, event: HeroEvent, now: number): Step {
  switch (event.type) {
    case "slides":
      return enter(
        { ...state, slides: event.slides },
        state,
        clamp(state.index, event.slides),
        now,
      );
    case "select":
      return enter(state, state, clamp(event.index, state.slides), now);
    case "arrow":
      // Ends the dwell. The pointer or focus on the arrow button must not hold the next picture (docs/product.md, Hero).
      return update({ ...state, holds: [], dwellLeft: null }, state, now);
    case "toggle":
      // A browser that refuses autoplay (Low Power Mode) plays during a user gesture, so the command is immediate,
      // not by a timer.
      if (state.video === "refused")
        return [
          { ...state, video: "playing", holds: [], retries: 0 },
          [{ do: "play", index: state.index, fromStart: false }],
        ];
      // The pointer is still on the button and must not hold the dwell.
      return update(
        { ...state, paused: !state.paused, stopped: !state.paused, holds: [], retries: 0 },
        state,
        now,
      );
    case "hold": {
      const others = state.holds.filter((source) => source !== event.source);
      return update({ ...state, holds: event.on ? [...others, event.source] : others }, state, now);
    }
    case "page":
      return update({ ...state, pageHidden: event.hidden, retries: 0 }, state, now);
    case "view":
      if (event.inView === state.inView) return [state, []];
      return update({ ...state, inView: event.inView, retries: 0 }, state, now);
    case "load":
      return update({ ...state, pageLoading: event.loading }, state, now);
    case "motion":
      return update({ ...state, paused: event.reduced || state.stopped }, state, now);
    case "dwell-over":
      if (state.dwellSince === null) return [state, []];
      return [{ ...state, dwellLeft: null, dwellSince: null }, [{ do: "advance" }]];
    case "video-due":
      if (!videoShouldPlay(state)) return [state, []];
      return [
        { ...state, video: "playing", fromStart: false },
        [{ do: "play", index: state.index, fromStart: state.fromStart }],
      ];
    case "video-playing":
      if (event.index !== state.index || state.video === "off") return [state, []];
      return [{ ...state, video: "playing" }, []];
    case "video-stopped": {
      // Videos of other slides, and videos that the machine has paused itself, are not retried.
      if (event.index !== state.index || state.video !== "playing") return [state, []];
      const after = VIDEO_RETRY_DELAYS_MS[state.retries];
      if (after === undefined) return [{ ...state, video: "refused" }, []];
      return [
        { ...state, video: "retrying", retries: state.retries + 1 },
        [{ do: "arm", timer: "video", after }],
      ];
    }
  }
}

function clamp(index: number, slides: readonly SlideKind[]): number {
  return Math.min(Math.max(index, 0), Math.max(slides.length - 1, 0));
}

/** Selects a slide: stops the timers and video of the old slide and starts those of the new one. */
function enter(next: HeroState, before: HeroState, index: number, now: number): Step {
  const commands: HeroCommand[] = [];
  if (before.dwellSince !== null) commands.push({ do: "cancel", timer: "dwell" });
  if (before.video !== "off") {
    commands.push({ do: "cancel", timer: "video" });
    commands.push({ do: "pause", index: before.index });
  }
  const fresh: HeroState = {
    ...next,
    index,
    dwellLeft: HERO_DWELL_MS,
    dwellSince: null,
    dwell: before.dwell + 1,
    video: "off",
    fromStart: true,
    retries: 0,
  };
  const [state, more] = update(fresh, fresh, now);
  return [state, [...commands, ...more]];
}

/** Starts or stops the dwell timer and the video, as `next` requires; `before` is the state before the event. */
function update(next: HeroState, before: HeroState, now: number): Step {
  const commands: HeroCommand[] = [];
  let state = next;

  const runs = before.dwellSince !== null;
  if (dwellShouldRun(state) && !runs) {
    state = { ...state, dwellSince: now };
    commands.push({ do: "arm", timer: "dwell", after: state.dwellLeft ?? HERO_DWELL_MS });
  } else if (!dwellShouldRun(state) && runs) {
    const spent = now - (before.dwellSince ?? now);
    const left = state.dwellLeft === null ? null : Math.max(state.dwellLeft - spent, 0);
    state = { ...state, dwellLeft: left, dwellSince: null };
    commands.push({ do: "cancel", timer: "dwell" });
  }

  const isOn = state.video !== "off";
  if (videoShouldPlay(state) && !isOn) {
    // A video starts after the slide has stopped moving; a resumed video starts immediately.
    const after = state.fromStart ? VIDEO_START_DELAY_MS : 0;
    state = { ...state, video: "waiting" };
    commands.push({ do: "arm", timer: "video", after });
  } else if (!videoShouldPlay(state) && isOn) {
    state = { ...state, video: "off" };
    commands.push({ do: "cancel", timer: "video" }, { do: "pause", index: state.index });
  }
  return [state, commands];
}
