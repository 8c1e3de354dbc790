import { SCROLL_AFTER_NAVIGATION_MS } from "@/lib/constants";

const SETTLE_MS = 2000;
const USER_EVENTS = ["wheel", "touchstart", "keydown", "pointerdown"] as const;

let stopSettling: (() => void) | null = null;

/**
 * Scrolls smoothly to the element with that id. Sections above it may still be loading, so the place is
 * corrected for a moment while the page grows, until the visitor moves by hand.
 */
export function scrollToSection(id: string): void {
  stopSettling?.();
  let focused = false;
  const go = () => {
    const target = document.getElementById(id);
    if (!target) return;
    target.scrollIntoView();
    if (focused) return;
    // As after a link to an anchor, the next Tab goes on from there and screen readers read on from there.
    focused = true;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  };
  go();
  const observer = new ResizeObserver(go);
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const name of USER_EVENTS) removeEventListener(name, stop);
    if (stopSettling === stop) stopSettling = null;
  };
  const timer = setTimeout(stop, SETTLE_MS);
  for (const name of USER_EVENTS) addEventListener(name, stop, { passive: true });
  observer.observe(document.body);
  stopSettling = stop;
}

/** After a change of route the target page needs a moment to be there. */
export function scrollToSectionSoon(id: string): void {
  setTimeout(() => scrollToSection(id), SCROLL_AFTER_NAVIGATION_MS);
}
