import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useNavigationType } from "react-router";

/**
 * Focuses the current filter after the grid that had the focus was replaced by that of another filter. Back does not move
 * the focus, because it restores the scroll position.
 */
export function useFilterFocus(): {
  filters: RefObject<HTMLElement | null>;
  onUnmount(hadFocus: boolean): void;
} {
  const filters = useRef<HTMLElement>(null);
  const lostFocus = useRef(false);
  const type = useNavigationType();

  useLayoutEffect(() => {
    if (lostFocus.current && type !== NavigationType.Pop)
      filters.current?.querySelector<HTMLElement>("[aria-current]")?.focus({ preventScroll: true });
    lostFocus.current = false;
  });

  return {
    filters,
    onUnmount: useCallback((hadFocus: boolean) => {
      lostFocus.current = hadFocus;
    }, []),
  };
}
