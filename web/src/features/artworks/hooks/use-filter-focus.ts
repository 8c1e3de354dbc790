import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useNavigationType } from "react-router";

/**
 * Moves the focus to the current filter's link when the grid that had the focus has been replaced by the grid of another
 * filter; otherwise the focus would be lost. Not after Back and Forward: they restore the scroll position instead.
 *
 * `filters` is the element around the filters' links. Each grid must call `onUnmount` with whether it had the focus.
 */
export function useFilterFocus(): {
  filters: RefObject<HTMLElement | null>;
  onUnmount(hadFocus: boolean): void;
} {
  const filters = useRef<HTMLElement>(null);
  const lostFocus = useRef(false);
  const navigationType = useNavigationType();

  useLayoutEffect(() => {
    if (lostFocus.current && navigationType !== NavigationType.Pop)
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
