import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { Product } from "@/lib/types";

export async function getFeaturedProducts(
  backend: PublicBackend,
  signal?: AbortSignal,
): Promise<Product[]> {
  let query = backend
    .from("products")
    .select("*")
    .eq("is_featured", true)
    .order("created_at", { ascending: false });
  if (signal) query = query.abortSignal(signal);
  const { data } = await query.throwOnError();
  return data;
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
