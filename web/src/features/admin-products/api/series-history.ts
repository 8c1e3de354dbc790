import { useQueries, useQueryClient } from "@tanstack/react-query";
import { chunks, refetchSeries } from "@/features/admin-products/api/series";
import { seriesPayload, initialSeriesState } from "@/features/admin-products/series-schema";
import type { SeriesVersion } from "@/features/admin-products/series-versions";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { historyKeys } from "@/lib/history/revisions";
import { refetch } from "@/lib/refetch";

// This file reads and restores what the history of a series shows: its texts, and its works in their order.

/** Fetches the titles of the works in these versions, by work id, while `shown` is true. Deleted works are missing. */
export function useWorkTitles(
  versions: readonly SeriesVersion[],
  shown: boolean,
): Map<string, string> {
  const backend = useOwnerBackend();
  const ids = new Set(versions.flatMap(({ pairs }) => pairs.map(({ product_id }) => product_id)));
  return useQueries({
    queries: chunks([...ids].sort()).map((chunk) => ({
      queryKey: ["products", "titles", chunk],
      enabled: shown,
      gcTime: 0,
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { data, error } = await backend
          .from("products")
          .select("id,title")
          .in("id", chunk)
          .abortSignal(signal);
        if (error) throw error;
        return data;
      },
    })),
    combine: (results) =>
      new Map(results.flatMap(({ data }) => data?.map(({ id, title }) => [id, title]) ?? [])),
  });
}

/**
 * Returns a function that makes an earlier version of a series the current one. The function resolves with the number of missing
 * files. The number is always 0, because a series has no files of its own.
 */
export function useRestoreVersion() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return async (now: SeriesVersion, before: SeriesVersion): Promise<number> => {
    try {
      const { cover_id } = before.series;
      const texts = seriesPayload(initialSeriesState(before.series).values);
      await updateIfUnchanged(backend, "series", now.series, { ...texts, cover_id });
      await restoreWorks(backend, now, before);
      return 0;
    } finally {
      await Promise.all([refetchSeries(cache), refetch(cache, historyKeys.all)]);
    }
  };
}

/** Removes the works that are only in `now`, and puts the works of `before` that still exist back in their places. */
async function restoreWorks(backend: OwnerBackend, now: SeriesVersion, before: SeriesVersion) {
  const kept = new Map(before.pairs.map((pair) => [pair.product_id, pair]));
  const current = new Map(now.pairs.map((pair) => [pair.product_id, pair]));
  const surplus = now.pairs.filter(({ product_id }) => !kept.has(product_id));
  for (const chunk of chunks(surplus)) {
    const ids = chunk.map(({ id }) => id);
    const { error } = await backend.from("series_works").delete().in("id", ids);
    if (error) throw error;
  }
  const misplaced = before.pairs
    .filter((pair) => current.get(pair.product_id)?.position !== pair.position)
    // A work that was taken out and added again has another pair.
    .map((pair) => ({ ...pair, id: current.get(pair.product_id)?.id ?? pair.id }));
  for (const chunk of chunks(misplaced)) {
    const ids = chunk.map(({ product_id }) => product_id);
    const existing = await backend.from("products").select("id").in("id", ids);
    if (existing.error) throw existing.error;
    const there = new Set(existing.data.map(({ id }) => id));
    const rows = chunk.filter(({ product_id }) => there.has(product_id));
    if (rows.length === 0) continue;
    const { error } = await backend.from("series_works").upsert(rows, { onConflict: "id" });
    if (error) throw error;
  }
}
