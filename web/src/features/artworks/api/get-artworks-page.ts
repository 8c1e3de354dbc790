import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { ARTWORK_TYPES, QUERY_STALE_MS } from "@/lib/constants";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { queryKeys } from "@/lib/query-keys";
import { firstPageFromAll, ARTWORKS_PER_PAGE, type ArtworksPage } from "@/features/artworks/paging";

/**
 * The REST parameters of a filter's works in the owner's order (docs/product.md, rule 26 and rule 58). The filter "all"
 * means all types that the owner shows in the gallery. internal/pages/site_pages.go makes the same requests.
 */
export function galleryQueryParams(
  { boot }: PublicBackend,
  filter: GalleryFilter,
): [string, string][] {
  const { types, order } = boot.site.gallery;
  const hidden = ARTWORK_TYPES.filter((type) => !types.includes(type));
  const query: [string, string][] = [
    ["select", "*,media"],
    ["artwork_type", hidden.length > 0 ? `not.in.(${hidden.join(",")})` : "not.is.null"],
    ["order", order],
  ];
  if (filter !== "all") query.push(["artwork_type", `eq.${filter}`]);
  return query;
}

/** The query of one page of a filter's works. Pages are counted from 0. */
export function artworksPageQuery(backend: PublicBackend, filter: GalleryFilter, page: number) {
  return queryOptions({
    queryKey: queryKeys.products.galleryPage(filter, page),
    queryFn: ({ signal }) =>
      backend.readRange(
        "products",
        galleryQueryParams(backend, filter),
        { from: page * ARTWORKS_PER_PAGE, count: ARTWORKS_PER_PAGE },
        signal,
      ),
    // Blocks of the grid mount again while the visitor scrolls, which must not refetch their page.
    staleTime: QUERY_STALE_MS,
  });
}

/** One page of a filter's works. */
export function useArtworksPage(filter: GalleryFilter, page: number) {
  const cache = useQueryClient();
  return useQuery({
    ...artworksPageQuery(usePublicBackend(), filter, page),
    // Until the first page of a filter has loaded, its works are taken from the first page of all works, if that is cached.
    placeholderData: () => {
      const all = cache.getQueryData<ArtworksPage>(queryKeys.products.galleryPage("all", 0));
      return page === 0 && all ? firstPageFromAll(filter, all) : undefined;
    },
  });
}
