import { useMemo } from "react";
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import type { SeriesPayload } from "@/features/admin-products/series-schema";
import type { RevisionPair } from "@/features/admin-products/series-versions";
import { isPreparing } from "@/components/upload/media-state";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { PREPARING_POLL_MS } from "@/lib/constants";
import { insertOnce } from "@/lib/editing/insert-once";
import { loadedIds } from "@/lib/editing/loaded-ids";
import { undoableMoves } from "@/lib/editing/undoable-moves";
import { updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { refetch } from "@/lib/refetch";
import { removeCachedRow } from "@/lib/remove-cached-row";
import type { MoveArgs, Series, SeriesWork } from "@/lib/types";

// This file fetches and changes series (works that the owner shows together) and their pairs. A pair is a row of series_works: one
// work in one series.

// The query keys are not in lib/query-keys.ts, because visitors download that file. The first item is the name of the table.
const seriesKey = ["series", "admin"] as const;
const pairsKey = (seriesId: string) => ["series_works", seriesId] as const;

/** How many rows one request reads at most. By default the server returns at most 1,000 rows. */
const ROWS_PER_READ = 1000;
/** How many ids the URL of one request has at most. */
const IDS_PER_REQUEST = 200;

/**
 * Fetches all series in the owner's order, also hidden ones. Polls while the server makes renditions (other sizes and formats) of their
 * pictures.
 */
export function useSeriesList() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: seriesKey,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("series")
        .select("*,media,updated_at")
        .order("position", { ascending: true })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
    refetchInterval: ({ state }) => (isPreparing(state.data ?? []) ? PREPARING_POLL_MS : false),
  });
}

/** Fetches the pairs of a series, in the order of its works. Fetches nothing if seriesId is undefined. */
export function usePairs(seriesId: string | undefined) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: pairsKey(seriesId ?? ""),
    enabled: seriesId !== undefined,
    queryFn: ({ signal }) => readPairs(backend, seriesId!, signal),
  });
}

/** Reads the pairs of a series, with as many requests as needed. */
async function readPairs(
  backend: OwnerBackend,
  seriesId: string,
  signal?: AbortSignal,
): Promise<RevisionPair[]> {
  const pairs: RevisionPair[] = [];
  for (;;) {
    const query = backend
      .from("series_works")
      .select("id,series_id,product_id,position,created_at")
      .eq("series_id", seriesId)
      .order("position", { ascending: true })
      .range(pairs.length, pairs.length + ROWS_PER_READ - 1);
    const { data, error } = await (signal ? query.abortSignal(signal) : query);
    if (error) throw error;
    pairs.push(...data);
    if (data.length < ROWS_PER_READ) return pairs;
  }
}

/** Refetches the list of series and the pairs of all series. */
export const refetchSeries = (queryClient: QueryClient) =>
  Promise.all([refetch(queryClient, ["series"]), refetch(queryClient, ["series_works"])]);

/** Returns functions that change series and the works in them. Each function refetches both lists at the end. */
export function useChangeSeries() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMemo(() => {
    /** Runs a change, and then refetches, also after a failure. */
    async function changeAndRefetch<Result>(change: () => Promise<Result>): Promise<Result> {
      try {
        return await change();
      } finally {
        await refetchSeries(queryClient);
      }
    }
    return {
      /** Inserts a series. A retry with the same id adds no second series. */
      create: (id: string, payload: SeriesPayload) =>
        changeAndRefetch(async () => {
          const { error } = await insertOnce(backend, "series", id, payload);
          if (error) throw error;
        }),
      /** Rejects with ConflictError if one of the fields was changed since `base` was read. */
      update: (base: Series, change: Partial<Series>) =>
        changeAndRefetch(() => updateIfUnchanged(backend, "series", base, change)),
      remove: async (id: string) => {
        const { error } = await backend.from("series").delete().eq("id", id);
        if (error) throw error;
        await removeCachedRow(queryClient, seriesKey, id);
        await refetchSeries(queryClient);
      },
      move: undoableMoves({
        loadedOrder: () => loadedIds(queryClient, seriesKey),
        readOrder: () => readSeriesOrder(backend),
        save: (args) => saveMove(backend, "move_series", args),
        refetch: () => refetchSeries(queryClient),
      }),
      /** Adds works at the end of a series, in their order. Resolves with the ids of the new pairs. Works in the series get none. */
      add: (seriesId: string, workIds: readonly string[]) =>
        changeAndRefetch(() => addWorks(backend, seriesId, workIds)),
      /** Undoes `add`. */
      removePairs: (ids: readonly string[]) =>
        changeAndRefetch(async () => {
          for (const chunk of chunks(ids)) {
            const { error } = await backend.from("series_works").delete().in("id", chunk);
            if (error) throw error;
          }
        }),
      /** Removes works from a series. Resolves with the removed pairs. */
      removeWorks: (seriesId: string, workIds: readonly string[]) =>
        changeAndRefetch(async () => {
          const removed: SeriesWork[] = [];
          for (const chunk of chunks(workIds)) {
            const { data, error } = await backend
              .from("series_works")
              .delete()
              .eq("series_id", seriesId)
              .in("product_id", chunk)
              .select("*");
            if (error) throw error;
            removed.push(...data);
          }
          return removed;
        }),
      /** Undoes `removeWorks`: inserts the pairs again, at their positions. */
      restorePairs: (pairs: readonly SeriesWork[]) =>
        changeAndRefetch(async () => {
          for (const chunk of chunks(pairs)) {
            const rows = chunk.map(({ id, series_id, product_id, position, created_at }) => ({
              id,
              series_id,
              product_id,
              position,
              created_at,
            }));
            const { error } = await backend.from("series_works").insert(rows);
            if (error) throw error;
          }
        }),
    };
  }, [backend, queryClient]);
}

/** Returns a function that moves works within a series. The ids of its arguments are those of pairs. */
export function useMoveSeriesWorks(seriesId: string) {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMemo(
    () =>
      undoableMoves({
        loadedOrder: () => loadedIds(queryClient, pairsKey(seriesId)),
        readOrder: async () => (await readPairs(backend, seriesId)).map(({ id }) => id),
        save: (args) => saveMove(backend, "move_series_work", args),
        refetch: () => refetchSeries(queryClient),
      }),
    [backend, queryClient, seriesId],
  );
}

async function saveMove(
  backend: OwnerBackend,
  name: "move_series" | "move_series_work",
  args: MoveArgs,
): Promise<void> {
  const { error } = await backend.rpc(name, args);
  if (error) throw error;
}

/** Reads the ids of all series in the owner's order. */
async function readSeriesOrder(backend: OwnerBackend): Promise<string[]> {
  const { data, error } = await backend
    .from("series")
    .select("id")
    .order("position", { ascending: true });
  if (error) throw error;
  return data.map(({ id }) => id);
}

async function addWorks(
  backend: OwnerBackend,
  seriesId: string,
  workIds: readonly string[],
): Promise<string[]> {
  const added: string[] = [];
  for (const chunk of chunks(workIds)) {
    const { data, error } = await backend
      .from("series_works")
      .select("product_id")
      .eq("series_id", seriesId)
      .in("product_id", chunk);
    if (error) throw error;
    const there = new Set(data.map(({ product_id }) => product_id));
    const rows = chunk
      .filter((id) => !there.has(id))
      .map((product_id) => ({ id: crypto.randomUUID(), series_id: seriesId, product_id }));
    if (rows.length === 0) continue;
    const inserted = await backend.from("series_works").insert(rows);
    if (inserted.error) throw inserted.error;
    added.push(...rows.map(({ id }) => id));
  }
  return added;
}

/** Splits a list into parts that one request can name. */
export function chunks<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / IDS_PER_REQUEST) }, (_, n) =>
    items.slice(n * IDS_PER_REQUEST, (n + 1) * IDS_PER_REQUEST),
  );
}
