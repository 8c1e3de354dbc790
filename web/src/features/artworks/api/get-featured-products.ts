import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { Product } from "@/lib/types";

export function getFeaturedProducts(
  backend: PublicBackend,
  signal?: AbortSignal,
): Promise<Product[]> {
  return backend.read(
    "products",
    { select: "*,media", is_featured: "eq.true", order: "created_at.desc" },
    signal,
  );
}

export function featuredProductsQuery(backend: PublicBackend) {
  return queryOptions({
    queryKey: queryKeys.products.featured,
    queryFn: ({ signal }) => getFeaturedProducts(backend, signal),
  });
}

export function useFeaturedProducts() {
  return useQuery(featuredProductsQuery(usePublicBackend()));
}
