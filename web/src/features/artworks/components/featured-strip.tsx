import { useCallback, useEffect, useId, type CSSProperties } from "react";
import { CarouselArrows } from "@/components/media/carousel-arrows";
import { CarouselPages } from "@/components/media/carousel-pages";
import { Dots, useCarousel } from "@/components/media/carousel";
import { usePublicBackend } from "@/lib/backend";
import { useLanguage } from "@/lib/i18n";
import { imageInfo, ratioOf } from "@/lib/media";
import { queryKeys } from "@/lib/query-keys";
import { useSiteText } from "@/lib/site-text";
import type { Product } from "@/lib/types";
import { usePageTitle } from "@/lib/use-page-title";
import {
  featuredArtworkQuery,
  featuredProductsQuery,
  useFeaturedProducts,
} from "@/features/artworks/api/get-featured-products";
import { artworkHeading } from "@/features/artworks/artwork-label";
import { ArtworkDialogLoader } from "@/features/artworks/components/artwork-dialog-loader";
import { ArtworkCard } from "@/features/artworks/components/artwork-card";
import { CardSkeleton } from "@/features/artworks/components/card-skeleton";
import { NoscriptArtwork } from "@/features/artworks/components/noscript-artwork-loader";
import { stripLayout } from "@/features/artworks/card-layout";
import { useOpenArtwork } from "@/features/artworks/hooks/use-open-artwork";

/** `onEnquire` is called when the visitor wants to ask about an opened work. */
type FeaturedStripProps = { onEnquire(product: Product): void };

// The width of a card. --part is a share of the content's width (styles/base.css).
const cardClasses = "min-w-0 flex-[0_0_calc(100%*var(--part))]";
const renderSkeleton = (index: number) => <CardSkeleton index={index} layout="strip" />;

/**
 * Returns the style that limits the height of the strip. Its custom property --strip-ratio is the aspect ratio of the tallest
 * work of the first page. Works of later pages do not change the height, so that nothing below moves. Returns undefined if a
 * ratio is unknown.
 */
function stripRatioStyle(products: Product[] | undefined): CSSProperties | undefined {
  const infos = products?.map((product) => imageInfo(product, product.image_url));
  if (!infos?.length || infos.includes(undefined)) return undefined;
  return { "--strip-ratio": Math.min(...infos.map((info) => ratioOf(info))) } as CSSProperties;
}

/** The carousel of featured works on the home page, with the artwork dialog. Renders nothing if there are no featured works. */
export function FeaturedStrip({ onEnquire }: FeaturedStripProps) {
  // The owner's text that is the heading of the strip. Without a text the heading is hidden.
  const trustedBy = useSiteText("testimonials.trustedBy");
  const pageLanguage = useLanguage();
  const headingId = useId();
  const backend = usePublicBackend();
  const { data: firstPage, error, isPending } = useFeaturedProducts();
  const carousel = useCarousel();
  const artwork = useOpenArtwork(firstPage, isPending, (id) => featuredArtworkQuery(backend, id));
  const openHeading = artwork.product && artworkHeading(artwork.product, pageLanguage);
  // Sets the document title here, because on the home page it depends only on the open work. Null leaves it unchanged.
  usePageTitle(artwork.isPending ? null : (openHeading ?? undefined));
  const { open } = artwork;
  const renderCard = useCallback(
    (product: Product) => <ArtworkCard product={product} onOpen={open} layout={stripLayout} />,
    [open],
  );

  useEffect(() => {
    if (error) console.error("The featured works could not be loaded", error);
  }, [error]);

  if (!isPending && !firstPage?.rows.length) return null;

  return (
    <>
      <noscript>
        {NoscriptArtwork && (
          <NoscriptArtwork
            firstPage={firstPage}
            queryKey={queryKeys.products.featuredArtwork}
            filter="all"
          />
        )}
      </noscript>
      <section
        aria-labelledby={trustedBy.text ? headingId : undefined}
        onKeyDown={carousel.onKeyDown}
        data-loading={isPending || undefined}
        className="py-section strip-sizes overflow-x-clip"
        style={stripRatioStyle(firstPage?.rows)}
      >
        <div className="page-container">
          {/* At least as high as the arrow buttons, which appear when the carousel has loaded. */}
          <div className="flex items-end justify-between gap-8 md:min-h-12">
            <h2
              id={headingId}
              lang={trustedBy.lang}
              hidden={!trustedBy.text}
              className="text-h2 oldstyle"
            >
              {trustedBy.text}
            </h2>
            <CarouselArrows {...carousel} className="max-md:hidden" />
          </div>
          <div className="relative mt-[clamp(30px,1.2rem+2.6vw,56px)]">
            <span
              aria-hidden="true"
              className="bg-divider absolute inset-x-[-100vw] top-(--strip-height) h-px"
            />
            {/* Cards are visible beyond the page's content on both sides; the section clips them at the window's edges. */}
            <div ref={carousel.viewportRef} data-carousel="" aria-busy={isPending || undefined}>
              <ul className="flex swipeable">
                {firstPage ? (
                  <CarouselPages
                    first={firstPage}
                    selected={carousel.selected}
                    LaterPages={carousel.LaterPages}
                    queryKey={queryKeys.products.featured}
                    query={featuredProductsQuery}
                    className={cardClasses}
                    renderRow={renderCard}
                    renderPlaceholder={renderSkeleton}
                  />
                ) : (
                  [0, 1, 2].map((n) => (
                    <li key={n} className={cardClasses}>
                      {renderSkeleton(n)}
                    </li>
                  ))
                )}
              </ul>
            </div>
          </div>
          {carousel.driver}
          {(!firstPage || firstPage.total > 1) && (
            <div className="mt-8 flex min-h-12 items-center justify-between md:mt-10">
              <Dots selected={carousel.selected} count={carousel.snaps} />
              <CarouselArrows {...carousel} className="ml-auto md:hidden" />
            </div>
          )}
        </div>
      </section>
      {/* Outside the section, because React would bubble arrow keys from the dialog to the section's carousel. */}
      <ArtworkDialogLoader
        product={artwork.product}
        onClose={artwork.close}
        onEnquire={onEnquire}
      />
    </>
  );
}
