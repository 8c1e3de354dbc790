import type { QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Invalidates queries, also those that are being fetched for the first time: such a fetch may have begun before the change,
 * and the client's own method would take its result as current.
 */
export async function invalidateAll(cache: QueryClient, queryKey: QueryKey): Promise<void> {
  const firstFetches = cache.getQueryCache().findAll({
    queryKey,
    fetchStatus: "fetching",
    predicate: ({ state }) => state.data === undefined,
  });
  await Promise.all([
    cache.invalidateQueries({ queryKey }),
    ...firstFetches.map(async (query) => {
      await query.promise?.catch(() => undefined);
      await cache.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }),
  ]);
}
