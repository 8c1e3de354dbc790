import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { LIST_PAGE_ROWS } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import { containing } from "@/lib/text-filter";
import type { Product } from "@/lib/types";

/** A work that has a picture. A cover (a large picture at the top of the home page) can be made from it. */
export type WorkWithPicture = Pick<Product, "id" | "title" | "media" | "is_published"> & {
  image_url: string;
};

/** PostgREST's error code for a range that begins after the last row. */
const RANGE_NOT_SATISFIABLE = "PGRST103";

/**
 * Fetches one page of the works that have a picture, newest first, for the dialog in which the owner chooses pictures for covers.
 * If `q` is not empty, fetches only works whose title or medium contains `q`. `total` is the number of these works on all pages.
 */
export function useWorksWithPicture(q: string, page: number) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: [...queryKeys.products.admin, "pictures", q, page],
    // The previous works are shown until the new ones have loaded.
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      // The rows are typed as if all columns were selected. WorkWithPicture has the selected ones.
      let query = backend
        .from("products")
        .select("id,title,image_url,media,is_published" as "*", { count: "exact" })
        .not("image_url", "is", null)
        .neq("image_url", "");
      if (q.trim()) query = query.or(containing(["title", "medium"], q.trim()).join(","));
      const first = (page - 1) * LIST_PAGE_ROWS;
      const { data, error, count } = await query
        .order("created_at", { ascending: false })
        .range(first, first + LIST_PAGE_ROWS - 1)
        .abortSignal(signal);
      if (error?.code === RANGE_NOT_SATISFIABLE) return { rows: [], total: 0 };
      if (error) throw error;
      return { rows: data as unknown as WorkWithPicture[], total: count ?? data.length };
    },
  });
}
