import "@/lib/gallery-texts"; // adds the texts of the gallery
import { useCallback, useMemo } from "react";
import { useIsFetching, useQueryClient } from "@tanstack/react-query";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { usePublicBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { useLanguage } from "@/lib/i18n";
import { localText } from "@/lib/local-text";
import type { Product } from "@/lib/types";
import { queryKeys } from "@/lib/query-keys";
import { usePageTitle } from "@/lib/use-page-title";
import { artworkQuery } from "@/features/artworks/api/get-artwork";
import { useArtworksPage } from "@/features/artworks/api/get-artworks-page";
import { seriesKeys } from "@/features/artworks/api/get-series";
import { artworkHeading } from "@/features/artworks/artwork-label";
import { NoscriptArtwork } from "@/features/artworks/components/noscript-artwork-loader";
import { ArtworkDialogLoader } from "@/features/artworks/components/artwork-dialog-loader";
import { GalleryFilters } from "@/features/artworks/components/gallery-filters";
import { CardSkeleton } from "@/features/artworks/components/card-skeleton";
import { GalleryGrid } from "@/features/artworks/components/gallery-grid";
import { gridClasses } from "@/features/artworks/components/gallery-block";
import { SeriesHead } from "@/features/artworks/components/series-head";
import { SeriesRow } from "@/features/artworks/components/series-row";
import { filterKeys, parseFilter } from "@/features/artworks/gallery-filter";
import { useFilterFocus } from "@/features/artworks/hooks/use-filter-focus";
import { useGallerySeries } from "@/features/artworks/hooks/use-gallery-series";
import { useOpenArtwork } from "@/features/artworks/hooks/use-open-artwork";
import { useRetryFocus } from "@/features/artworks/hooks/use-retry-focus";

type GalleryPageProps = {
  /** The `:type` of the route, such as mural. The page shows all works if it is undefined or not a type that the gallery shows. */
  type: string | undefined;
  /** Called when the visitor wants to ask about the work. */
  onEnquire(product: Product): void;
};

/**
 * The gallery: the page of all works, the works of one type, or the works of a series (works that the owner shows together). It has
 * the filters, the row of series, the grid, and the dialog of an opened work. The works are rows of products, so in code a work is
 * also a `product`.
 */
export function GalleryPage({ type, onEnquire }: GalleryPageProps) {
  const { language, t } = useLanguage();
  const filter = parseFilter(type, useBoot().site.gallery.types);
  const queryClient = useQueryClient();
  const series = useGallerySeries(filter);
  // The series whose works the page shows; null if it shows the works of the filter.
  const { current } = series;
  const firstPageQuery = useArtworksPage(filter, 0, current, series.isReady);
  const { data: firstPage } = firstPageQuery;
  // If the series of the URL could not be fetched, the query of the first page never starts, and the page shows the error.
  const isPending = series.isPending || (firstPageQuery.isPending && !series.isError);
  const isError = series.isError || firstPageQuery.isError;
  const slug = current?.slug;
  const pagesKey = useMemo(
    () => (slug ? seriesKeys.works(filter, slug) : queryKeys.products.gallery(filter)),
    [filter, slug],
  );
  // How many pages after the first one are loading for the first time. The last element of a query key is the number of the page.
  const pendingPages = useIsFetching({
    queryKey: pagesKey,
    predicate: ({ queryKey, state }) => queryKey.at(-1) !== 0 && state.status === "pending",
  });
  const backend = usePublicBackend();
  const artwork = useOpenArtwork(
    firstPage,
    isPending,
    (id) => artworkQuery(backend, filter, id),
    current !== null, // a series is only a part of the works that this query finds
  );
  const { filters, onUnmount } = useFilterFocus();
  const failedQuery = series.isError ? series : firstPageQuery;
  const { content, focusEvents } = useRetryFocus(isPending);
  const refetchPages = useCallback(
    () => void queryClient.invalidateQueries({ queryKey: pagesKey }),
    [queryClient, pagesKey],
  );
  // The title of the series, or the name of the filter's type; false for all works.
  const partTitle = current
    ? localText(language, current.title, current.title_pt).text
    : filter !== "all" && t(filterKeys[filter]);
  const heading = partTitle ? `${partTitle} · ${t("gallery.title")}` : t("gallery.title");
  const workHeading = artwork.product && artworkHeading(artwork.product, { language, t });
  usePageTitle(artwork.isPending ? null : (workHeading ?? heading));

  return (
    <div className="page-container pb-section pt-[clamp(3rem,1.875rem+4vw,5.5rem)]">
      <noscript>
        {NoscriptArtwork && (
          <NoscriptArtwork
            firstPage={firstPage}
            queryKey={(id) => queryKeys.products.galleryArtwork(filter, id)}
            filter={filter}
          />
        )}
      </noscript>
      <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-7">
        {current ? (
          <SeriesHead series={current} />
        ) : (
          <h1 className="text-h1">{t("gallery.title")}</h1>
        )}
        <GalleryFilters ref={filters} current={current && filter === "all" ? null : filter} />
      </div>
      {(artwork.isMissing || series.isMissing) && (
        <p role="status" className="text-lead border-divider mt-8 border-l-4 pl-5">
          {t(artwork.isMissing ? "gallery.gone" : "series.gone")}
        </p>
      )}
      <SeriesRow series={series.list} filter={filter} current={slug} />

      <div
        ref={content}
        className="relative pt-(--grid-top) [--caption:calc(21px+3.2125rem)] [--grid-gap:54px] sm:[--grid-gap:clamp(3rem,2rem+3vw,5rem)] [--grid-top:clamp(32px,1.4rem+2.05vw,56px)]"
      >
        {/* Positioned absolutely, so that nothing moves when the text vanishes. */}
        <p
          role="status"
          className="text-ink2 absolute top-[calc(var(--grid-top)/2-0.75rem)] left-0 text-sm"
        >
          {isPending || pendingPages > 0
            ? t("gallery.loading")
            : firstPage && (
                <span className="sr-only">{t("gallery.count", { n: firstPage.total })}</span>
              )}
        </p>
        {isPending ? (
          <div data-loading="" className={gridClasses}>
            {Array.from({ length: 8 }, (_, n) => (
              <CardSkeleton key={n} index={n} layout="grid" />
            ))}
          </div>
        ) : firstPage && firstPage.total > 0 ? (
          <GalleryGrid
            key={slug ? `${filter} ${slug}` : filter}
            filter={filter}
            series={current}
            total={firstPage.total}
            onOpen={artwork.open}
            onChanged={refetchPages}
            onUnmount={onUnmount}
          />
        ) : (
          <div className="border-divider min-h-[40svh] border-b pt-8">
            <p className="text-lead mb-4">{t(isError ? "gallery.error" : "gallery.empty")}</p>
            {isError ? (
              <Button variant="outline" {...focusEvents} onClick={() => void failedQuery.refetch()}>
                {t("common.retry")}
              </Button>
            ) : (
              (filter !== "all" || current) && (
                <TextLink to="/gallery/all">{t("gallery.seeAll")}</TextLink>
              )
            )}
          </div>
        )}
      </div>
      <ArtworkDialogLoader
        product={artwork.product}
        onClose={artwork.close}
        onEnquire={onEnquire}
      />
    </div>
  );
}
