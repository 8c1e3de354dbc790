import { useEffect, useRef, useState } from "react";

/**
 * The margin around the viewport in which a block counts as near: one and a half screens above and below. A near block is
 * rendered before fast scrolling or the Tab key reaches it.
 */
const MARGIN = "150% 0px";
type Callback = (entry: IntersectionObserverEntry) => void;

/**
 * One IntersectionObserver for all blocks of the gallery grid. It is created when the first block is observed, because the server's
 * JavaScript engine has no IntersectionObserver.
 */
export class ViewportObserver {
  #observer: IntersectionObserver | null = null;
  readonly #callbacks = new Map<Element, Callback>();

  observe(element: Element, callback: Callback): () => void {
    this.#observer ??= new IntersectionObserver(
      (entries) => {
        for (const entry of entries) this.#callbacks.get(entry.target)?.(entry);
      },
      { rootMargin: MARGIN },
    );
    this.#callbacks.set(element, callback);
    this.#observer.observe(element);
    return () => {
      this.#callbacks.delete(element);
      this.#observer?.unobserve(element);
    };
  }
}

/** The size of a block when its cards were last rendered, in CSS pixels. */
export type LastSize = { width: number; height: number };

/**
 * Observes a block of the gallery grid. Returns whether the block is near the viewport, and its size when its cards were last
 * rendered. A block that contains the focus counts as near until the focus has left, because unmounting would lose the focus. The
 * first block of the grid (`isFirst`) is near from the start.
 */
export function useNearViewport(viewportObserver: ViewportObserver, isFirst: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  // Whether the block is within the margin, also while the focus keeps it near.
  const isWithinMargin = useRef(isFirst);
  const [near, setNear] = useState(isFirst);
  const [lastSize, setLastSize] = useState<LastSize | null>(null);

  /** Records the size of the block. The next render of the block then has no cards. */
  function hide(element: Element) {
    const { width, height } = element.getBoundingClientRect();
    setLastSize({ width: Math.round(width), height });
    setNear(false);
  }

  // Observes the block while it is mounted.
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    return viewportObserver.observe(element, ({ isIntersecting }) => {
      isWithinMargin.current = isIntersecting;
      if (isIntersecting) setNear(true);
      else if (!element.contains(document.activeElement)) hide(element);
    });
  }, [viewportObserver]);

  function onBlur(event: React.FocusEvent<HTMLDivElement>) {
    if (!isWithinMargin.current && !event.currentTarget.contains(event.relatedTarget))
      hide(event.currentTarget);
  }
  return { ref, near, lastSize, onBlur };
}
