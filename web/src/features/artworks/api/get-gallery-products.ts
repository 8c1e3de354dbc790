import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { GALLERY_HIDDEN_TYPES, type GalleryFilter } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import type { Product } from "@/lib/types";

export async function getGalleryProducts(
  backend: PublicBackend,
  filter: GalleryFilter,
  signal?: AbortSignal,
): Promise<Product[]> {
  let query = backend
    .from("products")
    .select("*")
    .not("artwork_type", "in", `(${GALLERY_HIDDEN_TYPES.join(",")})`)
    .order("created_at", { ascending: false });
  if (filter !== "all") query = query.eq("artwork_type", filter);
  if (signal) query = query.abortSignal(signal);
  const { data } = await query.throwOnError();
  return data;
}

export function galleryProductsQuery(backend: PublicBackend, filter: GalleryFilter) {
  return queryOptions({
    queryKey: queryKeys.products.gallery(filter),
    queryFn: ({ signal }) => getGalleryProducts(backend, filter, signal),
  });
}

export function useGalleryProducts(filter: GalleryFilter) {
  const cache = useQueryClient();
  return useQuery({
    ...galleryProductsQuery(usePublicBackend(), filter),
    // The whole gallery, once loaded, already holds every filter's answer: no empty wall in between.
    placeholderData: () =>
      cache
        .getQueryData<Product[]>(queryKeys.products.gallery("all"))
        ?.filter((product) => product.artwork_type === filter),
  });
}
