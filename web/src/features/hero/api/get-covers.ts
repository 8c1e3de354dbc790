import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/**
 * The query of the visible covers (the large pictures and videos at the top of the home page) in order. "*,media" selects all
 * columns and `media`, which "*" leaves out.
 */
export function coversQuery(backend: PublicBackend) {
  return queryOptions({
    queryKey: queryKeys.covers.active,
    queryFn: ({ signal }) =>
      backend.read(
        "cover_images",
        { select: "*,media", is_active: "eq.true", order: "display_order.asc" },
        signal,
      ),
  });
}

/** Fetches the visible covers in order. */
export function useCovers() {
  return useQuery(coversQuery(usePublicBackend()));
}
