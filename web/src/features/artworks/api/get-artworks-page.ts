import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { GALLERY_HIDDEN_TYPES, QUERY_STALE_MS, type GalleryFilter } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import { firstPageFromAll, ARTWORKS_PER_PAGE, type ArtworksPage } from "@/features/artworks/paging";

/** The REST parameters of the gallery (docs/product.md, rule 26): no oil and acrylic, newest first, one type or all. */
export function galleryQueryParams(filter: GalleryFilter): [string, string][] {
  const query: [string, string][] = [
    ["select", "*,media"],
    ["artwork_type", `not.in.(${GALLERY_HIDDEN_TYPES.join(",")})`],
    ["order", "created_at.desc"],
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
        galleryQueryParams(filter),
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
