import { useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router";
import {
  keepPlace,
  placeNow,
  placeOf,
  worksIn,
  type WallPlace,
} from "@/features/artworks/wall-place";

/** How long the place is corrected while the works around it are drawn. */
const SETTLE_MS = 2000;
const USER_EVENTS = ["wheel", "touchstart", "keydown", "pointerdown"] as const;

/**
 * Back, forward and reload lead to the works that were on the screen. The browser's own memory is a number
 * of pixels, which means something else once blocks are drawn anew.
 */
export function useWallPlace(list: RefObject<HTMLElement | null>): void {
  const { key } = useLocation();
  const type = useNavigationType();
  const arrived = useRef({ key, back: type === NavigationType.Pop });

  useLayoutEffect(() => {
    const element = list.current;
    const place = arrived.current.back && placeOf(arrived.current.key, history.state);
    if (!element || !place) return;
    return settle(element, place);
  }, [list]);

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    // In the entry itself it outlives a reload; written when the scrolling rests, because browsers
    // allow few such changes a minute.
    const carry = () =>
      history.replaceState(
        { ...(history.state as object | null), wall: placeNow(element.children) },
        "",
      );
    document.addEventListener("scrollend", carry);
    return () => {
      document.removeEventListener("scrollend", carry);
      keepPlace(key, placeNow(element.children));
    };
  }, [key, list]);
}

/** Goes there, and goes on doing so while the wall grows or the browser applies its own number of pixels. */
function settle(list: HTMLElement, place: WallPlace): () => void {
  goTo(list, place);
  const again = () => goTo(list, place);
  const observer = new ResizeObserver(again);
  const works = new MutationObserver(again);
  const frame = requestAnimationFrame(again);
  const stop = () => {
    observer.disconnect();
    works.disconnect();
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    for (const name of USER_EVENTS) removeEventListener(name, stop);
  };
  const timer = setTimeout(stop, SETTLE_MS);
  observer.observe(list);
  works.observe(list, { childList: true, subtree: true });
  for (const name of USER_EVENTS) addEventListener(name, stop, { passive: true });
  return stop;
}

function goTo(list: HTMLElement, { block, top, work, workTop }: WallPlace) {
  const target = list.children[block];
  if (!target) return;
  const exact = worksIn(target)[work];
  const by = exact
    ? exact.getBoundingClientRect().top - workTop
    : target.getBoundingClientRect().top - top;
  if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: "instant" });
}
