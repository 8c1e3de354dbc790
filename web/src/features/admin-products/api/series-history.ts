import { useQueries, useQueryClient } from "@tanstack/react-query";
import { chunks, refetchSeries } from "@/features/admin-products/api/series";
import { seriesPayload, initialSeriesState } from "@/features/admin-products/series-schema";
import type { SeriesVersion } from "@/features/admin-products/series-versions";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { historyKeys } from "@/lib/history/revisions";
import { refetch } from "@/lib/refetch";

// Restores earlier versions of a series (works that the owner shows together), and fetches the titles of their works for the history.
// A version is the texts of the series and its works in their order, at one time. A pair is a row of series_works: one work in one series.

/** Fetches the titles of the works in these versions, if `enabled` is true. Returns the titles by work id, without deleted works. */
export function useWorkTitles(
  versions: readonly SeriesVersion[],
  enabled: boolean,
): Map<string, string> {
  const backend = useOwnerBackend();
  const ids = new Set(versions.flatMap(({ pairs }) => pairs.map(({ product_id }) => product_id)));
  return useQueries({
    queries: chunks([...ids].sort()).map((chunk) => ({
      queryKey: ["products", "titles", chunk],
      enabled,
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
 * Returns a function that makes an earlier version of a series the current one. The function resolves with 0, which is the number of
 * missing files for useRestoreToast: a series has no files of its own.
 */
export function useRestoreSeriesVersion() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return async (current: SeriesVersion, earlier: SeriesVersion): Promise<number> => {
    try {
      const { cover_id } = earlier.series;
      const texts = seriesPayload(initialSeriesState(earlier.series).values);
      await updateIfUnchanged(backend, "series", current.series, { ...texts, cover_id });
      await restoreWorks(backend, current, earlier);
      return 0;
    } finally {
      await Promise.all([refetchSeries(queryClient), refetch(queryClient, historyKeys.all)]);
    }
  };
}

/** Removes the works that the earlier version does not have, and puts the works that it has at its positions, if they still exist. */
async function restoreWorks(backend: OwnerBackend, current: SeriesVersion, earlier: SeriesVersion) {
  const earlierIds = new Set(earlier.pairs.map(({ product_id }) => product_id));
  const currentPairs = new Map(current.pairs.map((pair) => [pair.product_id, pair]));
  const surplus = current.pairs.filter(({ product_id }) => !earlierIds.has(product_id));
  for (const chunk of chunks(surplus)) {
    const ids = chunk.map(({ id }) => id);
    const { error } = await backend.from("series_works").delete().in("id", ids);
    if (error) throw error;
  }
  const misplaced = earlier.pairs
    .filter((pair) => currentPairs.get(pair.product_id)?.position !== pair.position)
    // A work that was removed from the series and added again has a new pair, which keeps its id.
    .map((pair) => ({ ...pair, id: currentPairs.get(pair.product_id)?.id ?? pair.id }));
  for (const chunk of chunks(misplaced)) {
    const ids = chunk.map(({ product_id }) => product_id);
    const products = await backend.from("products").select("id").in("id", ids);
    if (products.error) throw products.error;
    const existingIds = new Set(products.data.map(({ id }) => id));
    const rows = chunk.filter(({ product_id }) => existingIds.has(product_id));
    if (rows.length === 0) continue;
    const { error } = await backend.from("series_works").upsert(rows, { onConflict: "id" });
    if (error) throw error;
  }
}
