import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useNavigationType } from "react-router";

/**
 * A filter takes effect a moment after its address. Whoever has gone on with Tab meanwhile stands on a work of the
 * wall that goes, and finds the focus on the filter again. On the way back the page keeps its place, without a focus.
 */
export function useFocusOfGoneWall(): {
  filters: RefObject<HTMLElement | null>;
  onGone(hadFocus: boolean): void;
} {
  const filters = useRef<HTMLElement>(null);
  const lost = useRef(false);
  const type = useNavigationType();

  useLayoutEffect(() => {
    if (lost.current && type !== NavigationType.Pop)
      filters.current?.querySelector<HTMLElement>("[aria-current]")?.focus({ preventScroll: true });
    lost.current = false;
  });

  return {
    filters,
    onGone: useCallback((hadFocus: boolean) => {
      lost.current = hadFocus;
    }, []),
  };
}
