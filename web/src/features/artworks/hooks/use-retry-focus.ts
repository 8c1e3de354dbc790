import { useEffect, useRef } from "react";

/**
 * Keeps the keyboard focus of the button "Try again". The button is removed while the works load, which would lose the focus.
 * Afterwards the first work gets it, or the button if the works could not be loaded again. `content` is the element around the works
 * or the button, and the button gets `focusEvents`.
 */
export function useRetryFocus(isPending: boolean) {
  const content = useRef<HTMLDivElement>(null);
  // Whether the button has the focus, or had it when it was removed: React calls no onBlur for an element that it removes.
  const hasFocus = useRef(false);

  // Without a dependency list, because the works may replace the button without a render in which they are loading.
  useEffect(() => {
    if (isPending || !hasFocus.current) return;
    const focused = document.activeElement;
    if (focused instanceof HTMLButtonElement && content.current?.contains(focused)) return;
    hasFocus.current = false;
    if (focused !== document.body) return; // the visitor has moved the focus meanwhile
    content.current
      ?.querySelector<HTMLElement>("[role=listitem] a,button")
      ?.focus({ preventScroll: true });
  });

  return {
    content,
    focusEvents: {
      onFocus() {
        hasFocus.current = true;
      },
      onBlur() {
        hasFocus.current = false;
      },
    },
  };
}
