import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";
import { NavigationType, useNavigationType } from "react-router";

/**
 * Keeps the keyboard focus on the gallery when another filter is chosen. Each filter has its own grid (the list of its works). If the
 * removed grid had the focus, the link of the new filter gets it. After Back and Forward no link gets it, because the scroll position
 * is restored instead.
 *
 * `filters` is the element around the filters' links. Each grid calls `onUnmount` when it is removed.
 */
export function useFilterFocus(): {
  filters: RefObject<HTMLElement | null>;
  onUnmount(hadFocus: boolean): void;
} {
  const filters = useRef<HTMLElement>(null);
  const lostFocus = useRef(false);
  const navigationType = useNavigationType();

  // Without a dependency list, so that the effect runs after each render of the page. If that render has removed a grid, React has
  // called `onUnmount` before.
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
