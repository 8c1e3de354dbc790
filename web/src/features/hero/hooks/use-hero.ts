import {
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
  type FocusEvent,
  type PointerEvent,
} from "react";
import { useCarousel } from "@/components/media/carousel";
import { VIDEO_VISIBLE_RATIO } from "@/lib/constants";
import { useReducedMotion } from "@/lib/use-media-query";
import {
  createHeroController,
  type Clock,
  type HeroController,
} from "@/features/hero/hero-controller";
import { initialHero, type HoldSource, type SlideKind } from "@/features/hero/hero-machine";

// Arrow functions, because browsers refuse to run window.setTimeout as a method of another object.
const browserClock: Clock = {
  now: () => performance.now(),
  set: (run, ms) => window.setTimeout(run, ms),
  clear: (id) => window.clearTimeout(id),
};

/**
 * Connects the state machine of the hero (hero-machine.ts, run by the controller) to the browser. The commands of the machine move
 * the carousel and play videos. The hook sends the visitor's input, the visibility of the page and the events of the videos to the
 * machine. `kinds` has the kind of each slide, in order. No video plays before the page has loaded (`pageLoaded`).
 */
export function useHero(kinds: readonly SlideKind[], pageLoaded: boolean) {
  const carousel = useCarousel({ loop: true });
  const advance = useRef(carousel.next);
  const videos = useRef(new Map<number, HTMLVideoElement>());
  const section = useRef<HTMLElement>(null);
  const reducedMotion = useReducedMotion();

  const [controller] = useState<HeroController>(() =>
    createHeroController(browserClock, {
      advance: () => advance.current(),
      async play(index, fromStart) {
        const video = videos.current.get(index);
        if (!video) throw new Error("There is no video");
        // Without a gesture of the visitor, browsers play only muted videos.
        video.muted = true;
        if (fromStart) video.currentTime = 0;
        await video.play();
      },
      pause: (index) => videos.current.get(index)?.pause(),
    }),
  );
  const state = useSyncExternalStore(controller.subscribe, controller.getState, () => initialHero);

  // The following effects report changes to the machine: the setting for reduced motion, the load of the page, the slides,
  // the carousel's movements, and whether the tab and the hero are visible.
  useEffect(() => {
    controller.send({ type: "motion", reduced: reducedMotion });
  }, [controller, reducedMotion]);

  useEffect(() => {
    controller.send({ type: "load", loading: !pageLoaded });
  }, [controller, pageLoaded]);

  // The kinds as one text, because the array is new at each render and would run the effect each time.
  const kindList = kinds.join(" ");
  useEffect(() => {
    controller.send({ type: "slides", slides: kindList.split(" ") as SlideKind[] });
  }, [controller, kindList]);
  // Stops all timers at unmount.
  useEffect(() => () => controller.stop(), [controller]);

  // The controller is created once, so it calls the carousel's latest function through this ref.
  useEffect(() => {
    advance.current = carousel.next;
  }, [carousel.next]);

  useEffect(() => {
    const api = carousel.embla;
    if (!api) return;
    const select = () => controller.send({ type: "select", index: api.selectedScrollSnap() });
    const grab = () => controller.send({ type: "hold", source: "drag", on: true });
    const release = () => controller.send({ type: "hold", source: "drag", on: false });
    // useCarousel has already applied the moves that were requested before its library, embla, had loaded.
    if (api.selectedScrollSnap() !== controller.getState().index) select();
    api.on("select", select).on("pointerDown", grab).on("pointerUp", release);
    return () => {
      api.off("select", select).off("pointerDown", grab).off("pointerUp", release);
    };
  }, [controller, carousel.embla]);

  useEffect(() => {
    const read = () => controller.send({ type: "page", hidden: document.hidden });
    read();
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, [controller]);

  useEffect(() => {
    if (!section.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (last)
          controller.send({ type: "view", inView: last.intersectionRatio >= VIDEO_VISIBLE_RATIO });
      },
      { threshold: VIDEO_VISIBLE_RATIO },
    );
    observer.observe(section.current);
    return () => observer.disconnect();
  }, [controller]);

  /** True once the visitor has clicked an arrow. Only then screen readers announce the titles of new slides. */
  const [acted, setActed] = useState(false);
  const { prev, next, onKeyDown } = carousel;
  const arrow = useCallback(
    (move: () => void) => {
      setActed(true);
      controller.send({ type: "arrow" });
      move();
    },
    [controller],
  );

  const hold = (source: HoldSource, on: boolean) => controller.send({ type: "hold", source, on });
  return {
    state,
    section,
    viewportRef: carousel.viewportRef,
    driver: carousel.driver,
    loadDriver: carousel.load,
    acted,
    onKeyDown,
    prev: () => arrow(prev),
    next: () => arrow(next),
    toggle: () => controller.send({ type: "toggle" }),
    /** The handler of a video's pause event. The machine ignores pauses that it has caused itself. */
    videoPaused: (index: number) => controller.send({ type: "video-stopped", index }),
    videoRef: (index: number) => (video: HTMLVideoElement | null) => {
      if (video) videos.current.set(index, video);
      else videos.current.delete(index);
    },
    holdHandlers: {
      onPointerEnter: (event: PointerEvent) =>
        event.pointerType === "mouse" && hold("pointer", true),
      onPointerLeave: () => hold("pointer", false),
      // Only keyboard focus holds the dwell: a click focuses a button too.
      onFocus: (event: FocusEvent) => event.target.matches(":focus-visible") && hold("focus", true),
      onBlur: () => hold("focus", false),
    },
  };
}
