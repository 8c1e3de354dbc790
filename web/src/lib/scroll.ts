import { SCROLL_AFTER_NAVIGATION_MS } from "@/lib/constants";

// Scrolling and focus: to the sections of the home page, and to elements that must be visible.

/** How long scrolling waits for a section that is not displayed yet, in milliseconds. */
const APPEAR_MS = 15_000;
/** How long the position is corrected after the section has appeared, in milliseconds. */
const SETTLE_MS = 2000;
/** The events that show that the visitor scrolls or acts. They end the correction of the position. */
const USER_EVENTS = ["wheel", "touchstart", "keydown", "pointerdown"] as const;

/**
 * The behavior for scrolling by navigation: smooth, unless the visitor prefers reduced motion. It is not set in CSS, because CSS would
 * also make the scrolling by the Tab key smooth. After a quick second Tab the browser would then compute the target from a position
 * that the page has not reached yet.
 */
export function scrollBehavior(): ScrollBehavior {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

/** Stops the last call of scrollToSection, which waits for its section or corrects the position; null if that has ended. */
let stopSettling: (() => void) | null = null;

/**
 * Scrolls smoothly to the section with this id and focuses the section. Waits until the section is displayed. Sections above it may
 * still be loading, so the position is corrected while the page grows, until SETTLE_MS are over or the visitor scrolls. With `field`,
 * that field of the section gets the focus. If the field would not be visible, the page is scrolled to the field instead.
 */
export function scrollToSection(id: string, field?: HTMLElement): void {
  stopSettling?.();
  let hasAppeared = false;
  const scroll = () => {
    const target = document.getElementById(id);
    // While the pictures at the top of the page load, the sections below are not displayed and cannot get the focus.
    if (!target?.getClientRects().length) return;
    // Only one smooth scroll: a second one that begins during the first would end at neither target.
    if (field && !inViewWith(target, field))
      field.scrollIntoView({ behavior: scrollBehavior(), block: "center" });
    else target.scrollIntoView({ behavior: scrollBehavior() });
    if (hasAppeared) return;
    hasAppeared = true;
    clearTimeout(timer);
    timer = setTimeout(stop, SETTLE_MS);
    // With the focus in the section, Tab and screen readers continue from the section, as after a link to an anchor.
    if (!field) target.tabIndex = -1;
    (field ?? target).focus({ preventScroll: true });
  };
  const observer = new ResizeObserver(scroll);
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const name of USER_EVENTS) removeEventListener(name, stop);
    if (stopSettling === stop) stopSettling = null;
  };
  let timer = setTimeout(stop, APPEAR_MS);
  for (const name of USER_EVENTS) addEventListener(name, stop, { passive: true });
  observer.observe(document.body);
  stopSettling = stop;
  scroll();
}

/** Scrolls to a section after a change of route. It waits until the new page has had time to render. */
export function scrollToSectionAfterNavigation(id: string): void {
  setTimeout(() => scrollToSection(id), SCROLL_AFTER_NAVIGATION_MS);
}

/**
 * Focuses an element and makes sure that it is visible. The browser's own scrolling is not enough: it treats an element
 * covered by the fixed header as visible. A smooth scroll that is still running is stopped, because it would move the
 * element away.
 */
export function focusInView(element: HTMLElement): void {
  window.scrollTo({ top: window.scrollY, behavior: "instant" });
  element.focus({ preventScroll: true });
  // Two frames later, because the browser may move the page once more when text above or below has changed.
  requestAnimationFrame(() => requestAnimationFrame(() => bringIntoView(element)));
}

/**
 * After each press of Tab, scrolls the focused element out from under the fixed header (WCAG 2.2, 2.4.11). Stops a running
 * smooth scroll first. Returns the cleanup function.
 */
export function keepFocusVisible(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Tab") return;
    window.scrollTo({ top: window.scrollY, behavior: "instant" });
    requestAnimationFrame(() => requestAnimationFrame(uncover));
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** Scrolls the focused element out from under the header. */
function uncover() {
  const focused = document.activeElement;
  // In a text area the browser itself scrolls only to the line of the caret.
  if (focused instanceof HTMLTextAreaElement) focused.scrollIntoView({ block: "nearest" });
  // The header, dialogs and the skip link are above the page, so their elements are never covered.
  if (!focused || focused === document.body) return;
  if (focused.closest("header, [role=dialog], [href='#main']")) return;
  const { top, height } = focused.getBoundingClientRect();
  const covered = coveredHeight();
  if (top < covered && height < window.innerHeight - covered)
    window.scrollBy({ top: top - covered, behavior: "instant" });
}

/** Whether the field is visible after the section has been scrolled to the top of the window. */
const inViewWith = (section: HTMLElement, field: HTMLElement) =>
  coveredHeight() + field.getBoundingClientRect().bottom - section.getBoundingClientRect().top <=
  window.innerHeight;

/** The height of the fixed header in CSS pixels, which is the page's scroll padding. */
const coveredHeight = () => parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);

/** Scrolls a focused element to the middle of the window unless it is visible. */
function bringIntoView(element: HTMLElement) {
  if (document.activeElement !== element) return;
  const { top, bottom } = element.getBoundingClientRect();
  if (top < coveredHeight() || bottom > window.innerHeight)
    element.scrollIntoView({ block: "center" });
}
