import { useCallback } from "react";
import { useIsFetching, useQueryClient } from "@tanstack/react-query";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { queryKeys } from "@/lib/query-keys";
import { usePageTitle } from "@/lib/use-page-title";
import { useGalleryPart } from "@/features/artworks/api/get-gallery-part";
import { artworkHeading } from "@/features/artworks/artwork-label";
import { PlainWork } from "@/features/artworks/components/plain-work";
import { ArtworkDialogLoader } from "@/features/artworks/components/artwork-dialog-loader";
import { GalleryFilters } from "@/features/artworks/components/gallery-filters";
import { RailSkeleton } from "@/features/artworks/components/rail-skeleton";
import { Wall } from "@/features/artworks/components/wall";
import { grid } from "@/features/artworks/components/wall-block";
import { filterKeys, parseFilter } from "@/features/artworks/gallery-filter";
import { useFocusOfGoneWall } from "@/features/artworks/hooks/use-focus-of-gone-wall";
import { useArtworkInAddress } from "@/features/artworks/hooks/use-artwork-in-address";

type GalleryPageProps = { type: string | undefined; onAsk(product: Product): void };

export function GalleryPage({ type, onAsk }: GalleryPageProps) {
  const t = useT();
  const filter = parseFilter(type);
  const cache = useQueryClient();
  const { data: first, isPending, isError, isFetching, refetch } = useGalleryPart(filter, 0);
  const waiting = useIsFetching({
    queryKey: queryKeys.products.gallery(filter),
    predicate: ({ queryKey, state }) => queryKey[3] !== 0 && state.status === "pending",
  });
  const artwork = useArtworkInAddress(filter, first, isPending);
  const { filters, onGone } = useFocusOfGoneWall();
  const readAgain = useCallback(
    () => void cache.invalidateQueries({ queryKey: queryKeys.products.gallery(filter) }),
    [cache, filter],
  );
  const heading =
    filter === "all" ? t("gallery.title") : `${t(filterKeys[filter])} · ${t("gallery.title")}`;
  const work = artwork.product && artworkHeading(artwork.product, t);
  usePageTitle(artwork.isPending ? null : (work ?? heading));

  return (
    <div className="wrap pb-section pt-[clamp(3rem,1.875rem+4vw,5.5rem)]">
      <noscript>{import.meta.env.SSR && <PlainWork filter={filter} first={first} />}</noscript>
      <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-7">
        <h1 className="text-h1">{t("gallery.title")}</h1>
        <GalleryFilters ref={filters} current={filter} />
      </div>

      <div className="relative pt-(--wall-top) [--caption:calc(21px+3.2125rem)] [--wall-gap:54px] sm:[--wall-gap:clamp(3rem,2rem+3vw,5rem)] [--wall-top:clamp(32px,1.4rem+2.05vw,56px)]">
        {/* Lies in the space above the wall, so that nothing moves when it goes. */}
        <p
          role="status"
          className="text-ink2 absolute top-[calc(var(--wall-top)/2-0.75rem)] left-0 text-sm"
        >
          {isPending || waiting > 0
            ? t("gallery.loading")
            : first && <span className="sr-only">{t("gallery.count", { n: first.total })}</span>}
        </p>
        {isPending ? (
          <div data-waiting="" className={grid}>
            {Array.from({ length: 8 }, (_, n) => (
              <RailSkeleton key={n} index={n} layout="wall" />
            ))}
          </div>
        ) : first && first.total > 0 ? (
          <Wall
            key={filter}
            filter={filter}
            total={first.total}
            onOpen={artwork.open}
            onChanged={readAgain}
            onGone={onGone}
          />
        ) : (
          <div className="border-rail min-h-[40svh] border-b pt-8">
            <p className="text-lead mb-4">{t(isError ? "gallery.error" : "gallery.empty")}</p>
            {isError ? (
              <Button variant="outline" loading={isFetching} onClick={() => void refetch()}>
                {t("common.retry")}
              </Button>
            ) : (
              filter !== "all" && <TextLink to="/gallery/all">{t("gallery.seeAll")}</TextLink>
            )}
          </div>
        )}
      </div>
      <ArtworkDialogLoader product={artwork.product} onClose={artwork.close} onAsk={onAsk} />
    </div>
  );
}
