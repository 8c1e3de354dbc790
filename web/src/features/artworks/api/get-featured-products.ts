import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The query of the featured works, newest first. */
export function featuredProductsQuery(backend: PublicBackend) {
  return queryOptions({
    queryKey: queryKeys.products.featured,
    queryFn: ({ signal }) =>
      backend.read(
        "products",
        { select: "*,media", is_featured: "eq.true", order: "created_at.desc" },
        signal,
      ),
  });
}

export function useFeaturedProducts() {
  return useQuery(featuredProductsQuery(usePublicBackend()));
}
