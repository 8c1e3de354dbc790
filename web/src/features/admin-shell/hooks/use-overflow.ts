import { useEffect, useState, type RefObject } from "react";

const none = { left: false, right: false };

/** Whether content of a scrollable row is hidden beyond its left and right edge. */
export function useOverflow(row: RefObject<HTMLElement | null>): { left: boolean; right: boolean } {
  const [more, setMore] = useState(none);
  useEffect(() => {
    const element = row.current;
    if (!element) return;
    const measure = () => {
      const { scrollLeft, scrollWidth, clientWidth } = element;
      // Tolerates one pixel of rounding.
      const next = { left: scrollLeft > 1, right: scrollLeft + clientWidth < scrollWidth - 1 };
      setMore((was) => (was.left === next.left && was.right === next.right ? was : next));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const resized = new ResizeObserver(measure);
    for (const one of [element, ...element.children]) resized.observe(one);
    return () => {
      element.removeEventListener("scroll", measure);
      resized.disconnect();
    };
  }, [row]);
  return more;
}
