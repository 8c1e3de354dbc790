import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { carouselQuery } from "@/lib/carousel-query";
import { queryKeys } from "@/lib/query-keys";

const featured = { select: "*,media", is_featured: "eq.true", order: "created_at.desc" };

/** The query of one page of the featured works, newest first. */
export function featuredProductsQuery(backend: PublicBackend, page: number) {
  return carouselQuery(backend, "products", featured, queryKeys.products.featured, page);
}

/** The query of one featured work by its id. Its data are null if there is no such work. */
export function featuredArtworkQuery(backend: PublicBackend, id: string) {
  return queryOptions({
    queryKey: queryKeys.products.featuredArtwork(id),
    queryFn: async ({ signal }) => {
      const [work] = await backend.read("products", { ...featured, id: `eq.${id}` }, signal);
      return work ?? null;
    },
  });
}

/** The first page of the featured works. */
export function useFeaturedProducts() {
  return useQuery(featuredProductsQuery(usePublicBackend(), 0));
}
