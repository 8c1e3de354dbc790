import { QueryClient } from "@tanstack/react-query";
import type { PrefetchedQuery } from "@/lib/boot";
import {
  QUERY_GC_MS,
  QUERY_RETRIES,
  QUERY_RETRY_BASE_MS,
  QUERY_RETRY_MAX_MS,
  QUERY_STALE_MS,
} from "@/lib/constants";

/** Returns the wait before a retry in milliseconds. It doubles with each attempt, up to a limit. */
export function retryDelay(attempt: number): number {
  return Math.min(QUERY_RETRY_BASE_MS * 2 ** attempt, QUERY_RETRY_MAX_MS);
}

/**
 * Makes the query cache with the settings of the site. `prefetched` has the data of the page's queries from the boot data (JSON that
 * the server puts into the page). The cache treats these data as just fetched, or as stale if rows are missing from them.
 */
export function makeQueryClient(prefetched: readonly PrefetchedQuery[] = []): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        gcTime: QUERY_GC_MS,
        staleTime: QUERY_STALE_MS,
        retry: QUERY_RETRIES,
        retryDelay,
      },
      // Without a network a mutation fails immediately and visibly, instead of waiting for the network.
      mutations: { networkMode: "always" },
    },
  });
  for (const [key, data, cut] of prefetched)
    // `cut` says that rows are missing. With a date of 1970 the data are stale, so they are fetched again.
    client.setQueryData(key, data, cut ? { updatedAt: 1 } : undefined);
  return client;
}
