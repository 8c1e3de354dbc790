import { useSyncExternalStore } from "react";

const never = () => () => undefined;

/** False on the server and while hydrating: dialogs must not be part of the first render. */
export function useMounted(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
