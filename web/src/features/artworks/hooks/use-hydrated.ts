import { useSyncExternalStore } from "react";

/** Subscribes to a value that never changes. */
const subscribeToNothing = () => () => undefined;

/**
 * False on the server and during hydration, true afterwards. The first render must equal the server's HTML, so it must not
 * contain dialogs.
 */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    subscribeToNothing,
    () => true,
    () => false,
  );
}
