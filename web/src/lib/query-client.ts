import { QueryClient } from "@tanstack/react-query";
import type { KnownQuery } from "@/lib/boot";
import {
  QUERY_GC_MS,
  QUERY_RETRIES,
  QUERY_RETRY_BASE_MS,
  QUERY_RETRY_MAX_MS,
  QUERY_STALE_MS,
} from "@/lib/constants";

export function retryDelay(attempt: number): number {
  return Math.min(QUERY_RETRY_BASE_MS * 2 ** attempt, QUERY_RETRY_MAX_MS);
}

/** `known` is what came with the page; it is as fresh as an answer of this moment. */
export function makeQueryClient(known: readonly KnownQuery[] = []): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        gcTime: QUERY_GC_MS,
        staleTime: QUERY_STALE_MS,
        retry: QUERY_RETRIES,
        retryDelay,
      },
      // Without a network a change must fail and say so, not wait unseen for the line to come back.
      mutations: { networkMode: "always" },
    },
  });
  for (const [key, data] of known) client.setQueryData(key, data);
  return client;
}
