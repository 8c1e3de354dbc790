import { useSyncExternalStore } from "react";

/** A subscription to something that never changes. */
const never = () => () => undefined;

/**
 * False on the server and during hydration, true afterwards. Dialogs must not be in the first render, which the
 * server's HTML must equal.
 */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
