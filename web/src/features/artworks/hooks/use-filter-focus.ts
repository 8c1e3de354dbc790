import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useNavigationType } from "react-router";

/**
 * Keeps the keyboard focus on the page when another filter is chosen. If the removed grid had the focus, the link of the current
 * filter gets it. After Back and forward nothing is focused, because the scroll position is restored instead.
 *
 * `filters` is the element around the filters' links. Each grid must call `onUnmount` and say whether the grid had the focus.
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
