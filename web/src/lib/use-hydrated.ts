import { useSyncExternalStore } from "react";

/** Subscribes to a value that never changes. */
const subscribeToNothing = () => () => undefined;

/**
 * Whether React has hydrated the page: false on the server and during hydration, true afterwards. The first render must equal the
 * server's HTML, which contains no dialogs and does not depend on the screen.
 */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    subscribeToNothing,
    () => true,
    () => false,
  );
}
