import { useEffect, useRef, useState } from "react";

/** A screen and a half in each direction: enough for a fast hand on the wheel and for the Tab key. */
const MARGIN = "150% 0px";
type Told = (entry: IntersectionObserverEntry) => void;

/** One observer for all parts of a list; it begins with the first effect, never while rendering. */
export class Nearness {
  #observer: IntersectionObserver | null = null;
  readonly #told = new Map<Element, Told>();

  observe(element: Element, told: Told): () => void {
    this.#observer ??= new IntersectionObserver(
      (entries) => {
        for (const entry of entries) this.#told.get(entry.target)?.(entry);
      },
      { rootMargin: MARGIN },
    );
    this.#told.set(element, told);
    this.#observer.observe(element);
    return () => {
      this.#told.delete(element);
      this.#observer?.unobserve(element);
    };
  }
}

export type LastSize = { width: number; height: number };

/**
 * Whether a part of a list is on the screen or about to be, and the size that it last had. A part that
 * holds the focus stays until the focus has left: else the keyboard would start again at the top.
 */
export function useNear(nearness: Nearness, first: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  const close = useRef(first);
  const [near, setNear] = useState(first);
  const [last, setLast] = useState<LastSize | null>(null);

  function leave(element: Element) {
    const { width, height } = element.getBoundingClientRect();
    setLast({ width: Math.round(width), height });
    setNear(false);
  }

  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    return nearness.observe(element, ({ isIntersecting }) => {
      close.current = isIntersecting;
      if (isIntersecting) setNear(true);
      else if (!element.contains(document.activeElement)) leave(element);
    });
  }, [nearness]);

  function onBlur(event: React.FocusEvent<HTMLDivElement>) {
    if (!close.current && !event.currentTarget.contains(event.relatedTarget))
      leave(event.currentTarget);
  }
  return { ref, near, last, onBlur };
}
