import { onlineManager, type QueryClient, type QueryKey } from "@tanstack/react-query";

/**
 * Invalidates queries, also those that are being fetched for the first time. A first fetch may have begun before the change, but
 * invalidateQueries of TanStack Query takes its result as current.
 */
async function invalidateAll(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  const firstFetches = queryClient.getQueryCache().findAll({
    queryKey,
    fetchStatus: "fetching",
    predicate: ({ state }) => state.data === undefined,
  });
  await Promise.all([
    queryClient.invalidateQueries({ queryKey }),
    ...firstFetches.map(async (query) => {
      await query.promise?.catch(() => undefined);
      await queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }),
  ]);
}

/**
 * Invalidates queries after a change, and resolves when the queries in use have been fetched again. If the browser is offline or goes
 * offline, it resolves immediately, because the fetches then wait for the network without limit.
 */
export function refetch(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  const fetched = invalidateAll(queryClient, queryKey);
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
