import { onlineManager, type QueryClient, type QueryKey } from "@tanstack/react-query";
import { invalidateAll } from "@/lib/invalidate-all";

/**
 * Invalidates queries and resolves when those in use have been fetched again. If the browser is offline or goes offline, it
 * resolves immediately, because the fetch then waits for the network without limit.
 */
export function refetch(cache: QueryClient, queryKey: QueryKey): Promise<void> {
  const fetched = invalidateAll(cache, queryKey);
  return new Promise((resolve) => {
    const unsubscribe = onlineManager.subscribe((online) => {
      if (!online) resolve();
    });
    void fetched.finally(() => {
      unsubscribe();
      resolve();
    });
    if (!onlineManager.isOnline()) resolve();
  });
}
