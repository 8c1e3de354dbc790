import { HERO_DWELL_MS, VIDEO_RETRY_DELAYS_MS, VIDEO_START_DELAY_MS } from "@/lib/constants";

// The cover carousel of specification §4 as one pure function. It knows no browser: what happened
// comes in as an event with its time, what is to be done goes out as a list of commands.

export type SlideKind = "image" | "video";

/** Reasons to hold the dwell for a while; the pause button is not among them, it stops it for good. */
export type HoldSource = "pointer" | "focus" | "drag";

export type HeroState = {
  slides: readonly SlideKind[];
  index: number;
  /** Stopped by the button, or from the start when the visitor asks for less motion. */
  paused: boolean;
  holds: readonly HoldSource[];
  pageHidden: boolean;
  inView: boolean;
  /** The page still waits for more urgent files: no film may be asked for yet. */
  pageLoading: boolean;
  /** What is left of the selected image's time; null after an arrow press until the next selection. */
  dwellLeft: number | null;
  /** When the running dwell was armed; null while it stands still. */
  dwellSince: number | null;
  /** Counts the dwells, so that the progress line knows a new one from a resumed one. */
  dwell: number;
  film: "off" | "waiting" | "playing" | "retrying" | "refused";
  /** The film was not started since its slide was selected: it then starts from its beginning. */
  filmFresh: boolean;
  retries: number;
};

export type HeroEvent =
  | { type: "slides"; slides: readonly SlideKind[] }
  | { type: "select"; index: number }
  | { type: "arrow" }
  | { type: "toggle" }
  | { type: "hold"; source: HoldSource; on: boolean }
  | { type: "page"; hidden: boolean }
  | { type: "view"; inView: boolean }
  | { type: "load"; loading: boolean }
  | { type: "motion"; reduced: boolean }
  | { type: "dwell-over" }
  | { type: "film-due" }
  | { type: "film-playing"; index: number }
  | { type: "film-stopped"; index: number };

export type Timer = "dwell" | "film";

export type HeroCommand =
  | { do: "arm"; timer: Timer; after: number }
  | { do: "cancel"; timer: Timer }
  | { do: "advance" }
  | { do: "play"; index: number; fromStart: boolean }
  | { do: "pause"; index: number };

export const initialHero: HeroState = {
  slides: [],
  index: 0,
  paused: false,
  holds: [],
  pageHidden: false,
  inView: true,
  pageLoading: false,
  dwellLeft: null,
  dwellSince: null,
  dwell: 0,
  film: "off",
  filmFresh: false,
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

function filmShouldPlay(state: HeroState): boolean {
  return (
    kindAt(state) === "video" &&
    !state.paused &&
    !state.pageHidden &&
    state.inView &&
    !state.pageLoading
  );
}

type Step = readonly [HeroState, readonly HeroCommand[]];

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
      // The press cancels the pending time, and a pointer or focus that rests on the arrow must
      // not hold the image which it asked for (READING §3.8).
      return settle({ ...state, holds: [], dwellLeft: null }, state, now);
    case "toggle":
      // A browser that refuses films on their own (Low Power Mode) plays them at a press: at once, not by a timer.
      if (state.film === "refused")
        return [
          { ...state, film: "playing", holds: [], retries: 0 },
          [{ do: "play", index: state.index, fromStart: false }],
        ];
      // The pointer still rests on the button: Play must not be held by it.
      return settle({ ...state, paused: !state.paused, holds: [], retries: 0 }, state, now);
    case "hold": {
      const others = state.holds.filter((source) => source !== event.source);
      return settle({ ...state, holds: event.on ? [...others, event.source] : others }, state, now);
    }
    case "page":
      return settle({ ...state, pageHidden: event.hidden, retries: 0 }, state, now);
    case "view":
      if (event.inView === state.inView) return [state, []];
      return settle({ ...state, inView: event.inView, retries: 0 }, state, now);
    case "load":
      return settle({ ...state, pageLoading: event.loading }, state, now);
    case "motion":
      return settle({ ...state, paused: event.reduced }, state, now);
    case "dwell-over":
      if (state.dwellSince === null) return [state, []];
      return [{ ...state, dwellLeft: null, dwellSince: null }, [{ do: "advance" }]];
    case "film-due":
      if (!filmShouldPlay(state)) return [state, []];
      return [
        { ...state, film: "playing", filmFresh: false },
        [{ do: "play", index: state.index, fromStart: state.filmFresh }],
      ];
    case "film-playing":
      if (event.index !== state.index || state.film === "off") return [state, []];
      return [{ ...state, film: "playing" }, []];
    case "film-stopped": {
      // Late news from a slide that was left, and our own pauses, are no reason to try again.
      if (event.index !== state.index || state.film !== "playing") return [state, []];
      const after = VIDEO_RETRY_DELAYS_MS[state.retries];
      if (after === undefined) return [{ ...state, film: "refused" }, []];
      return [
        { ...state, film: "retrying", retries: state.retries + 1 },
        [{ do: "arm", timer: "film", after }],
      ];
    }
  }
}

function clamp(index: number, slides: readonly SlideKind[]): number {
  return Math.min(Math.max(index, 0), Math.max(slides.length - 1, 0));
}

/** A slide is selected: the old one's timers and film end, the new one's begin. */
function enter(next: HeroState, before: HeroState, index: number, now: number): Step {
  const commands: HeroCommand[] = [];
  if (before.dwellSince !== null) commands.push({ do: "cancel", timer: "dwell" });
  if (before.film !== "off") {
    commands.push({ do: "cancel", timer: "film" });
    commands.push({ do: "pause", index: before.index });
  }
  const fresh: HeroState = {
    ...next,
    index,
    dwellLeft: HERO_DWELL_MS,
    dwellSince: null,
    dwell: before.dwell + 1,
    film: "off",
    filmFresh: true,
    retries: 0,
  };
  const [state, more] = settle(fresh, fresh, now);
  return [state, [...commands, ...more]];
}

/** Brings the timers and the film in line with what the state now asks for. */
function settle(next: HeroState, before: HeroState, now: number): Step {
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

  const on = state.film !== "off";
  if (filmShouldPlay(state) && !on) {
    // The delay lets the slide come to rest; a film that only resumes need not wait.
    const after = state.filmFresh ? VIDEO_START_DELAY_MS : 0;
    state = { ...state, film: "waiting" };
    commands.push({ do: "arm", timer: "film", after });
  } else if (!filmShouldPlay(state) && on) {
    state = { ...state, film: "off" };
    commands.push({ do: "cancel", timer: "film" }, { do: "pause", index: state.index });
  }
  return [state, commands];
}
