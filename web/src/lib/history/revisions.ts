import { useInfiniteQuery } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import type { CoverImage, Product, Review, Revision, Series } from "@/lib/types";

// The queries of revisions. A revision is a row as it was before a change or a deletion.

/** The tables whose rows have a history, with the types of their rows. */
export type HistoryRows = {
  products: Product;
  reviews: Review;
  cover_images: CoverImage;
  series: Series;
};
/** The name of a table whose rows have a history. */
export type HistoryTable = keyof HistoryRows;

// The query keys of revisions. They are not in lib/query-keys.ts, because visitors download that file.
export const historyKeys = {
  all: ["history"] as const,
  row: (table: string, id: string) => ["history", "row", table, id] as const,
  deleted: (table: string) => ["history", "deleted", table] as const,
};

/**
 * Reads the revisions of a row, the newest first. `Row` is the type of the row. For the table `site_settings`, which takes no id, the
 * result has the revisions of all settings. `before` is the id of a revision; the result then has only revisions older than that one.
 */
export async function getHistory<Row>(
  backend: OwnerBackend,
  args: { table: string; id?: string; before?: number },
  signal?: AbortSignal,
): Promise<Revision<Row>[]> {
  const call = backend.rpc("get_history", args);
  const { data, error } = await (signal ? call.abortSignal(signal) : call);
  if (error) throw error;
  return data as Revision<Row>[];
}

/** The maximum number of revisions in a response. A request with the id of the last revision as `before` gets older revisions. */
const PAGE_REVISIONS = 200;

/**
 * Fetches revisions in pages, the newest first, each time that they are shown. `load` fetches a page: the newest revisions, or with
 * `before` (the id of a revision) only older ones. In the result, `data` has the revisions of all fetched pages, and `pages` is the
 * number of these pages.
 */
function useRevisionPages<Row>(
  queryKey: readonly unknown[],
  enabled: boolean,
  load: (before: number | undefined, signal: AbortSignal) => Promise<Revision<Row>[]>,
) {
  const query = useInfiniteQuery({
    queryKey,
    enabled,
    staleTime: 0,
    gcTime: 0,
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    getNextPageParam: (page) => (page.length < PAGE_REVISIONS ? undefined : page.at(-1)!.id),
  });
  return { ...query, data: query.data?.pages.flat(), pages: query.data?.pages.length ?? 0 };
}

/** Fetches the revisions of a row, or of all settings with the table `site_settings` and no id. */
export function useHistory<Row>(table: string, id: string | undefined, shown: boolean) {
  const backend = useOwnerBackend();
  return useRevisionPages(historyKeys.row(table, id ?? ""), shown, (before, signal) =>
    getHistory<Row>(
      backend,
      { table, ...(id !== undefined && { id }), ...(before && { before }) },
      signal,
    ),
  );
}

/** The deleted rows of a table. */
export function useDeleted<Table extends HistoryTable>(table: Table, shown: boolean) {
  const backend = useOwnerBackend();
  return useRevisionPages(historyKeys.deleted(table), shown, async (before, signal) => {
    // The client's types do not accept a type parameter.
    const args: { table: string; before?: number } = { table, ...(before && { before }) };
    const { data, error } = await backend.rpc("get_deleted", args).abortSignal(signal);
    if (error) throw error;
    return data as Revision<HistoryRows[Table]>[];
  });
}
