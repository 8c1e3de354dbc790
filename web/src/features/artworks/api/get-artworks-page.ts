import { queryOptions, useQuery, useQueryClient, type QueryFunction } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { QUERY_STALE_MS } from "@/lib/constants";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { queryKeys } from "@/lib/query-keys";
import { seriesWorksQuery, type SeriesName } from "@/features/artworks/api/get-series";
import { typeConditions } from "@/features/artworks/api/type-conditions";
import { limitPageLoads } from "@/features/artworks/limit-page-loads";
import { firstPageFromAll, ARTWORKS_PER_PAGE, type ArtworksPage } from "@/features/artworks/paging";

/**
 * The REST parameters of the requests for the works of a filter (all works, or one type) in the owner's order. The works are rows
 * of the table products. "*,media" selects all columns and `media`, which "*" leaves out. internal/pages/site_pages.go makes the
 * same requests.
 */
export function galleryQueryParams(
  backend: PublicBackend,
  filter: GalleryFilter,
): [string, string][] {
  // `typeCondition` has the condition on the filter's type; it is empty for all works.
  const [shownTypes, ...typeCondition] = typeConditions(backend, filter);
  const { order } = backend.boot.site.gallery;
  return [["select", "*,media"], shownTypes!, ["order", order], ...typeCondition];
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
    // While the visitor scrolls, blocks of the gallery grid mount again. They must not refetch their page.
    staleTime: QUERY_STALE_MS,
  });
}

/** One page of a filter's works, counted from 0. With `series`, only the works of that series, in its order. */
export function useArtworksPage(
  filter: GalleryFilter,
  page: number,
  series: SeriesName | null = null,
  enabled = true,
) {
  const queryClient = useQueryClient();
  const backend = usePublicBackend();
  const { queryKey, queryFn } = series
    ? seriesWorksQuery(backend, filter, series, page)
    : artworksPageQuery(backend, filter, page);
  return useQuery<ArtworksPage>({
    queryKey,
    queryFn: (context) =>
      limitPageLoads(async () => (queryFn as QueryFunction<ArtworksPage>)(context), context.signal),
    staleTime: QUERY_STALE_MS,
    enabled,
    // Until the first page of a filter has loaded, its works are taken from the first page of all works, if that page is cached.
    placeholderData: () => {
      const all = queryClient.getQueryData<ArtworksPage>(queryKeys.products.galleryPage("all", 0));
      return page === 0 && all && !series ? firstPageFromAll(filter, all) : undefined;
    },
  });
}
