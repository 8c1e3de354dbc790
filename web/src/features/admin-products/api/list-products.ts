import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { isPreparing } from "@/components/upload/media-state";
import type { ProductView } from "@/features/admin-products/list-view";
import { searchCondition } from "@/features/admin-products/list-view";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { LIST_PAGE_ROWS, PREPARING_POLL_MS } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import type { ArtworkType, Product } from "@/lib/types";

/** The works of one page, and the number of works on all pages. */
type ProductsPage = { rows: Product[]; total: number };

/** PostgREST's error code for a range that begins after the last row. */
const RANGE_NOT_SATISFIABLE = "PGRST103";

/** Fetches one page of the admin table of works, filtered and sorted by the server. */
export function useProducts(view: ProductView) {
  const backend = useOwnerBackend();
  const { types } = useBoot().site.gallery;
  return useQuery({
    queryKey: [...queryKeys.products.admin, view, types],
    // The previous rows are shown until the new ones have loaded.
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => fetchPage(backend, view, types, signal),
    refetchInterval: ({ state }) =>
      isPreparing(state.data?.rows ?? []) ? PREPARING_POLL_MS : false,
  });
}

async function fetchPage(
  backend: OwnerBackend,
  view: ProductView,
  types: readonly ArtworkType[],
  signal: AbortSignal,
): Promise<ProductsPage> {
  const first = (view.page - 1) * LIST_PAGE_ROWS;
  let query = backend
    .from("products")
    .select("*,media,updated_at,is_published", { count: "exact" });
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
  const { column, ascending } = orders[view.sort];
  const { data, error, count } = await query
    .order(column, { ascending, nullsFirst: false })
    .range(first, first + LIST_PAGE_ROWS - 1)
    .abortSignal(signal);
  if (error?.code === RANGE_NOT_SATISFIABLE) return { rows: [], total: 0 };
  if (error) throw error;
  return { rows: data, total: count ?? data.length };
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
};
