import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useNavigationType } from "react-router";

/**
 * Keeps the keyboard focus on the page when another filter is chosen. If the grid that was removed had the focus, the link of
 * the current filter gets it. After Back and Forward nothing is focused, because they restore the scroll position instead.
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
