import { SCROLL_AFTER_NAVIGATION_MS } from "@/lib/constants";

/** How long a section may take to be shown, after which nothing moves by itself any more. */
const APPEAR_MS = 15_000;
const SETTLE_MS = 2000;
const USER_EVENTS = ["wheel", "touchstart", "keydown", "pointerdown"] as const;

/**
 * For the ways through the page only. The whole page being smooth would take the keyboard's own scrolling
 * along, where a quick second Tab is judged by a place that is not reached yet.
 */
export function smoothly(): ScrollBehavior {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

let stopSettling: (() => void) | null = null;

/**
 * Scrolls smoothly to the element with that id, once it is shown. Sections above it may still be loading, so the
 * place is corrected for a moment while the page grows, until the visitor moves by hand. A field of the section
 * takes the focus in its stead, and is scrolled to itself where it would be out of view.
 */
export function scrollToSection(id: string, field?: HTMLElement): void {
  stopSettling?.();
  let arrived = false;
  const go = () => {
    const target = document.getElementById(id);
    // While the covers are on their way the sections below are not shown, and what is not shown takes no focus.
    if (!target?.getClientRects().length) return;
    // One smooth scroll and never two: a second one to another place, begun on the way, ends at neither.
    if (field && !inViewWith(target, field))
      field.scrollIntoView({ behavior: smoothly(), block: "center" });
    else target.scrollIntoView({ behavior: smoothly() });
    if (arrived) return;
    arrived = true;
    clearTimeout(timer);
    timer = setTimeout(stop, SETTLE_MS);
    // As after a link to an anchor, the next Tab goes on from there and screen readers read on from there.
    if (!field) target.tabIndex = -1;
    (field ?? target).focus({ preventScroll: true });
  };
  const observer = new ResizeObserver(go);
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
  go();
}

/** After a change of route the target page needs a moment to be there. */
export function scrollToSectionSoon(id: string): void {
  setTimeout(() => scrollToSection(id), SCROLL_AFTER_NAVIGATION_MS);
}

/**
 * Focuses the element where a visitor sees it. Left to itself the browser scrolls only to what is out of view
 * at that moment, and counts what lies under the bar as seen; a smooth scroll still under way would carry the
 * focus off, so it ends here.
 */
export function focusInView(element: HTMLElement): void {
  window.scrollTo({ top: window.scrollY, behavior: "instant" });
  element.focus({ preventScroll: true });
  // One frame later, because text that has come in above or below makes the browser move the page once more.
  requestAnimationFrame(() => requestAnimationFrame(() => bringIntoView(element)));
}

/**
 * What Tab leads to must not lie under the bar (WCAG 2.2, 2.4.11), nor be carried there by a smooth scroll that is
 * still under way. Returns what ends it.
 */
export function keepFocusClear(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Tab") return;
    window.scrollTo({ top: window.scrollY, behavior: "instant" });
    requestAnimationFrame(() => requestAnimationFrame(uncover));
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

function uncover() {
  const at = document.activeElement;
  // The browser itself shows only the line with the caret and may leave the box below the window.
  if (at instanceof HTMLTextAreaElement) at.scrollIntoView({ block: "nearest" });
  // The bar itself, dialogs and the skip link lie above the page.
  if (!at || at === document.body || at.closest("header, [role=dialog], [href='#main']")) return;
  const { top, height } = at.getBoundingClientRect();
  const covered = coveredHeight();
  if (top < covered && height < window.innerHeight - covered)
    window.scrollBy({ top: top - covered, behavior: "instant" });
}

/** Whether the field's end is on the screen when the section stands at its top. */
const inViewWith = (section: HTMLElement, field: HTMLElement) =>
  coveredHeight() + field.getBoundingClientRect().bottom - section.getBoundingClientRect().top <=
  window.innerHeight;

const coveredHeight = () => parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);

function bringIntoView(element: HTMLElement) {
  if (document.activeElement !== element) return;
  const { top, bottom } = element.getBoundingClientRect();
  if (top < coveredHeight() || bottom > window.innerHeight)
    element.scrollIntoView({ block: "center" });
}
