import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { carouselQuery } from "@/lib/carousel-query";
import { queryKeys } from "@/lib/query-keys";

// The queries of the featured works: the works that the owner has chosen for the carousel on the home page.

/**
 * The REST parameters of the featured works. "*,media" selects all columns and `media`, which "*" leaves out. `strip` is the order
 * that the owner has chosen for the carousel; without it the gallery's order is used.
 */
const featuredParams = ({ boot: { site } }: PublicBackend) => ({
  select: "*,media",
  is_featured: "eq.true",
  order: site.gallery.strip || site.gallery.order,
});

/** The query of one page of the featured works in the owner's order. Pages are counted from 0. */
export function featuredProductsQuery(backend: PublicBackend, page: number) {
  return carouselQuery(
    backend,
    "products",
    featuredParams(backend),
    queryKeys.products.featured,
    page,
  );
}

/** The query of one featured work by its id. Its data are null if there is no such work. */
export function featuredArtworkQuery(backend: PublicBackend, id: string) {
  return queryOptions({
    queryKey: queryKeys.products.featuredArtwork(id),
    queryFn: async ({ signal }) => {
      const [work] = await backend.read(
        "products",
        { ...featuredParams(backend), id: `eq.${id}` },
        signal,
      );
      return work ?? null;
    },
  });
}

/** The first page of the featured works. */
export function useFeaturedProducts() {
  return useQuery(featuredProductsQuery(usePublicBackend(), 0));
}
