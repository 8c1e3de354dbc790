import { useEffect, useEffectEvent, type RefObject } from "react";

/** Selects the elements inside the modal element that Tab reaches. */
const FOCUSABLE = "a[href], button:not(:disabled)";

/**
 * Makes an element modal while `active`: the page does not scroll, the siblings of the element are inert, and Tab stays
 * inside the element. `onEscape` is called for the Escape key.
 */
export function usePageLock(
  active: boolean,
  modal: RefObject<HTMLElement | null>,
  onEscape: () => void,
): void {
  const escape = useEffectEvent(onEscape);

  useEffect(() => {
    const element = modal.current;
    if (!active || !element) return;
    const page = document.documentElement;
    const overflowBefore = page.style.overflow;
    page.style.overflow = "hidden";
    const siblings = [...(element.parentElement?.children ?? [])].filter(
      (sibling) => sibling !== element && !sibling.hasAttribute("inert"),
    );
    for (const sibling of siblings) sibling.setAttribute("inert", "");

    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        event.preventDefault();
        escape();
        return;
      }
      if (event.key !== "Tab") return;
      // The siblings are inert, so Tab does not reach them. At the first and last focusable element, Tab would move the
      // focus to the browser's controls. Instead the focus wraps to the other end.
      const stops = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((stop) =>
        stop.checkVisibility(),
      );
      const first = stops[0];
      const last = stops.at(-1);
      const focused = document.activeElement;
      if (!event.shiftKey && (focused === last || !element.contains(focused))) {
        event.preventDefault();
        first?.focus();
      } else if (event.shiftKey && (focused === first || !element.contains(focused))) {
        event.preventDefault();
        last?.focus();
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => {
      page.style.overflow = overflowBefore;
      for (const sibling of siblings) sibling.removeAttribute("inert");
      document.removeEventListener("keydown", onKeyDown);
    };
  }, [active, modal]);
}
