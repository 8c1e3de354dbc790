import { useCallback } from "react";
import {
  keepPreviousData,
  useQueries,
  useQuery,
  useQueryClient,
  type QueryClient,
} from "@tanstack/react-query";
import { isPreparing } from "@/components/upload/media-state";
import type { ProductView } from "@/features/admin-products/list-view";
import {
  oneLanguageCondition,
  readView,
  searchCondition,
} from "@/features/admin-products/list-view";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { LIST_PAGE_ROWS, PREPARING_POLL_MS } from "@/lib/constants";
import { loadedIds } from "@/lib/editing/loaded-ids";
import { queryKeys } from "@/lib/query-keys";
import type { ArtworkType, Product } from "@/lib/types";

// This file fetches the works (rows of products) for the admin page of works. The page shows them as a table or as the wall (the list of
// works as pictures). The table fetches pages of works. The wall fetches the ids of all works, and then the works near the window.

/** The works of one page of the table, and the number of works on all pages. */
export type ProductsPage = { rows: Product[]; total: number };

/** PostgREST's error code for a range that begins after the last row. */
const RANGE_NOT_SATISFIABLE = "PGRST103";

/** The columns of a listed work. The last three are named, because the server does not include them in *. */
const LISTED_COLUMNS = "*,media,updated_at,is_published";

/** How many ids one request reads at most. By default the server returns at most 1,000 rows. */
const IDS_PER_READ = 1000;

/**
 * Fetches one page of the table, filtered and sorted by the server. Fetches nothing if `enabled` is false. Polls while the server prepares
 * pictures of the works, which means that it makes their renditions (other sizes and formats).
 */
export function useProducts(view: ProductView, enabled = true) {
  const backend = useOwnerBackend();
  const { types } = useBoot().site.gallery;
  return useQuery({
    enabled,
    queryKey: [...queryKeys.products.admin, view, types],
    // The previous rows are shown until the new ones have loaded.
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => fetchPage(backend, view, types, signal),
    refetchInterval: ({ state }) =>
      isPreparing(state.data?.rows ?? []) ? PREPARING_POLL_MS : false,
  });
}

/** Builds the request for all works of a view. `types` are the types of works that the gallery shows, for the filter "not-in-gallery". */
function worksQuery(
  backend: OwnerBackend,
  columns: string,
  view: ProductView,
  types: readonly ArtworkType[],
) {
  // The rows are typed as if all columns were selected. Callers read only the columns that they name.
  let query = backend.from("products").select(columns as "*", { count: "exact" });
  const q = view.q.trim();
  if (q) query = query.or(searchCondition(q));
  if (view.type) query = query.eq("artwork_type", view.type);
  if (view.flag === "featured") query = query.eq("is_featured", true);
  if (view.flag === "out-of-stock") query = query.eq("in_stock", false);
  if (view.flag === "customizable") query = query.eq("is_customizable", true);
  if (view.flag === "not-in-gallery")
    query = query.not("artwork_type", "in", `(${types.join(",")})`);
  if (view.flag === "draft") query = query.is("published_at", null);
  if (view.flag === "scheduled")
    query = query.eq("is_published", false).not("published_at", "is", null);
  if (view.flag === "one-language-title") query = query.or(oneLanguageCondition("title"));
  if (view.flag === "one-language-description")
    query = query.or(oneLanguageCondition("description"));
  if (view.flag === "one-language-medium") query = query.or(oneLanguageCondition("medium"));
  if (view.flag === "one-language-seo")
    query = query.or(oneLanguageCondition("seo_meta_title", "seo_meta_desc"));
  if (view.flag === "no-alt-texts")
    query = query.is("alt_texts", null).not("image_url", "is", null);
  const { column, ascending } = orders[view.sort];
  return query.order(column, { ascending, nullsFirst: false });
}

/** Fetches the works of the view's page; none if the page is beyond the last one. */
async function fetchPage(
  backend: OwnerBackend,
  view: ProductView,
  types: readonly ArtworkType[],
  signal: AbortSignal,
): Promise<ProductsPage> {
  const first = (view.page - 1) * LIST_PAGE_ROWS;
  const { data, error, count } = await worksQuery(backend, LISTED_COLUMNS, view, types)
    .range(first, first + LIST_PAGE_ROWS - 1)
    .abortSignal(signal);
  if (error?.code === RANGE_NOT_SATISFIABLE) return { rows: [], total: 0 };
  if (error) throw error;
  return { rows: data, total: count ?? data.length };
}

/** The key of the query of useWorkIds. */
const idsKey = ({ q, type, flag, sort }: ProductView, types: readonly ArtworkType[]) =>
  [...queryKeys.products.admin, "ids", { q, type, flag, sort }, types] as const;

/** Fetches the ids of all works of a view, in its order. The wall fetches only the works near the window (useWorksById). */
export function useWorkIds(view: ProductView, enabled: boolean) {
  const backend = useOwnerBackend();
  const { types } = useBoot().site.gallery;
  return useQuery({
    enabled,
    queryKey: idsKey(view, types),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => fetchIds(backend, view, types, signal),
  });
}

/** Fetches the ids of all works of a view, in its order, with as many requests as needed. */
async function fetchIds(
  backend: OwnerBackend,
  view: ProductView,
  types: readonly ArtworkType[],
  signal?: AbortSignal,
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const query = worksQuery(backend, "id", view, types).range(
      ids.length,
      ids.length + IDS_PER_READ - 1,
    );
    const { data, error, count } = await (signal ? query.abortSignal(signal) : query);
    if (error?.code === RANGE_NOT_SATISFIABLE) return ids;
    if (error) throw error;
    ids.push(...data.map(({ id }) => id));
    if (data.length === 0 || ids.length >= (count ?? 0)) return ids;
  }
}

/** The view of all works in the owner's order. */
const OWNERS_ORDER: ProductView = { ...readView(new URLSearchParams()), sort: "manual" };

/** Fetches the ids of all works in the owner's order. */
export const fetchOwnersOrder = (backend: OwnerBackend): Promise<string[]> =>
  fetchIds(backend, OWNERS_ORDER, []);

/** Returns the ids of all works in the owner's order, if a wall without filters has loaded them; else undefined. */
export const loadedOwnersOrder = (queryClient: QueryClient, types: readonly ArtworkType[]) =>
  loadedIds(queryClient, idsKey(OWNERS_ORDER, types));

/** The query of some works by their ids; its data are in any order. */
function worksByIdQuery(backend: OwnerBackend, ids: readonly string[]) {
  return {
    queryKey: [...queryKeys.products.admin, "by-id", ids],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const { data, error } = await backend
        .from("products")
        .select(LISTED_COLUMNS as "*")
        .in("id", [...ids])
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
    refetchInterval: ({ state }: { state: { data?: Product[] } }) =>
      isPreparing(state.data ?? []) ? PREPARING_POLL_MS : false,
  } as const;
}

/**
 * Fetches the works with the given ids in blocks, and returns all works that were fetched so far, by id. A work that moves to
 * another block stays there while its block is fetched again.
 */
export function useWorksById(blocks: readonly (readonly string[])[]): Map<string, Product> {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const merge = useCallback(() => {
    const works = new Map<string, Product>();
    const key = [...queryKeys.products.admin, "by-id"];
    const fetched = queryClient.getQueryCache().findAll({ queryKey: key });
    fetched.sort((a, b) => a.state.dataUpdatedAt - b.state.dataUpdatedAt);
    for (const { state } of fetched)
      for (const work of (state.data as Product[] | undefined) ?? []) works.set(work.id, work);
    return works;
  }, [queryClient]);
  // The results are read from the cache, which has those of earlier blocks too.
  return useQueries({
    queries: blocks.map((ids) => worksByIdQuery(backend, ids)),
    combine: merge,
  });
}

/** The column and direction by which the server sorts, for each order of the table. */
const orders: Record<ProductView["sort"], { column: keyof Product; ascending: boolean }> = {
  newest: { column: "created_at", ascending: false },
  oldest: { column: "created_at", ascending: true },
  title: { column: "title", ascending: true },
  "title-desc": { column: "title", ascending: false },
  type: { column: "artwork_type", ascending: true },
  "date-desc": { column: "creation_date", ascending: false },
  date: { column: "creation_date", ascending: true },
  manual: { column: "position", ascending: true },
};
