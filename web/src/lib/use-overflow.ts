import { useEffect, useState, type RefObject } from "react";

const noOverflow = { left: false, right: false };

/** Whether a scrollable row has hidden content beyond its left edge, and beyond its right edge. */
export function useOverflow(row: RefObject<HTMLElement | null>): { left: boolean; right: boolean } {
  const [overflow, setOverflow] = useState(noOverflow);
  // Measures the row after each change of its scroll position or size.
  useEffect(() => {
    const element = row.current;
    if (!element) return;
    const measure = () => {
      const { scrollLeft, scrollWidth, clientWidth } = element;
      // Tolerates one pixel of rounding.
      const next = { left: scrollLeft > 1, right: scrollLeft + clientWidth < scrollWidth - 1 };
      setOverflow((before) =>
        before.left === next.left && before.right === next.right ? before : next,
      );
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    for (const observed of [element, ...element.children]) observer.observe(observed);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, [row]);
  return overflow;
}
