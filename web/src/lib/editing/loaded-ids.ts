import type { QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Returns the ids that a query has loaded, in their order. Its data are rows or ids. Returns undefined if the data are not loaded, or
 * were invalidated since.
 */
export function loadedIds(queryClient: QueryClient, queryKey: QueryKey): string[] | undefined {
  const state = queryClient.getQueryState<readonly (string | { id: string })[]>(queryKey);
  return state?.isInvalidated
    ? undefined
    : state?.data?.map((row) => (typeof row === "string" ? row : row.id));
}
