import { useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router";
import {
  savePosition,
  currentPosition,
  savedPosition,
  listItems,
  type ScrollPosition,
} from "@/features/artworks/scroll-position";

/** How long the restored position is corrected, in milliseconds: while the grid renders works whose heights differ from the estimates. */
const SETTLE_MS = 2000;
/** Events by which a visitor may begin to scroll. They end the correction, even if the visitor does not scroll then. */
const USER_EVENTS = ["wheel", "touchstart", "keydown", "pointerdown"] as const;

/**
 * After Back, forward or a reload, scrolls to the works that were on the screen. The browser restores only an offset in pixels. That
 * is not enough: other works may be at that offset, because the grid renders only works near the screen and estimates the height
 * of all others.
 */
export function useScrollRestoration(list: RefObject<HTMLElement | null>): void {
  const { key } = useLocation();
  const type = useNavigationType();
  // The key of the history entry at mount, and whether to restore its position. Back, forward, a reload and the first load of a page have
  // the navigation type Pop. A new history entry has no saved position.
  const firstEntry = useRef({ key, restores: type === NavigationType.Pop });

  // Restores the position before the first paint.
  useLayoutEffect(() => {
    const element = list.current;
    const position =
      firstEntry.current.restores && savedPosition(firstEntry.current.key, history.state);
    if (!element || !position) return;
    return restore(element, position);
  }, [list]);

  // Saves the position for a later return: in the history entry, and in memory when the page is left.
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    // Stored in the history entry for reloads. Only on scrollend, because browsers limit the rate of history changes.
    const store = () =>
      history.replaceState(
        { ...(history.state as object | null), scrollPosition: currentPosition(element.children) },
        "",
      );
    document.addEventListener("scrollend", store);
    return () => {
      document.removeEventListener("scrollend", store);
      savePosition(key, currentPosition(element.children));
    };
  }, [key, list]);
}

/**
 * Scrolls to the position, and again while the grid grows or the browser restores its own offset, until SETTLE_MS are over
 * or the visitor scrolls. Returns a function that stops it.
 */
function restore(list: HTMLElement, position: ScrollPosition): () => void {
  goTo(list, position);
  const correctPosition = () => goTo(list, position);
  const sizeObserver = new ResizeObserver(correctPosition);
  const worksObserver = new MutationObserver(correctPosition);
  const frame = requestAnimationFrame(correctPosition);
  const stop = () => {
    sizeObserver.disconnect();
    worksObserver.disconnect();
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    for (const name of USER_EVENTS) removeEventListener(name, stop);
  };
  const timer = setTimeout(stop, SETTLE_MS);
  sizeObserver.observe(list);
  worksObserver.observe(list, { childList: true, subtree: true });
  for (const name of USER_EVENTS) addEventListener(name, stop, { passive: true });
  return stop;
}

/** Scrolls so that the work of the position, or its block while works are missing, is where it was. */
function goTo(list: HTMLElement, { block, top, work, workTop }: ScrollPosition) {
  const target = list.children[block];
  if (!target) return;
  const targetWork = listItems(target)[work];
  const distance = targetWork
    ? targetWork.getBoundingClientRect().top - workTop
    : target.getBoundingClientRect().top - top;
  if (Math.abs(distance) >= 1) scrollBy({ top: distance, behavior: "instant" });
}
