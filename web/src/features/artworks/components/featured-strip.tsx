import { useEffect, useId, useState, type CSSProperties } from "react";
import { CarouselArrows } from "@/components/media/carousel-arrows";
import { Dots, useCarousel } from "@/components/media/carousel";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioOf } from "@/lib/media";
import { useSiteText } from "@/lib/site-text";
import type { Product } from "@/lib/types";
import { usePageTitle } from "@/lib/use-page-title";
import { useFeaturedProducts } from "@/features/artworks/api/get-featured-products";
import { artworkHeading } from "@/features/artworks/artwork-label";
import { ArtworkDialogLoader } from "@/features/artworks/components/artwork-dialog-loader";
import { ArtworkCard } from "@/features/artworks/components/artwork-card";
import { NoscriptArtwork } from "@/features/artworks/components/noscript-artwork";
import { CardSkeleton } from "@/features/artworks/components/card-skeleton";
import { stripLayout } from "@/features/artworks/card-layout";
import { useFeaturedArtwork } from "@/features/artworks/hooks/use-featured-artwork";

/** How many cards after the selected one are rendered: more than a screen shows plus one step of the carousel. */
const CARDS_AHEAD = 12;

type FeaturedStripProps = { onEnquire(product: Product): void };

/**
 * Style with the aspect ratio of the tallest work as a custom property, which limits the height of the strip. Undefined if
 * any ratio is unknown.
 */
function tallestStyle(products: Product[] | undefined): CSSProperties | undefined {
  const infos = products?.map((product) => imageInfo(product, product.image_url));
  if (!infos?.length || infos.includes(undefined)) return undefined;
  return { "--strip-ratio": Math.min(...infos.map((info) => ratioOf(info))) } as CSSProperties;
}

/** The carousel of featured works on the home page, with the artwork dialog; renders nothing if there are none. */
export function FeaturedStrip({ onEnquire }: FeaturedStripProps) {
  const trustedBy = useSiteText("testimonials.trustedBy");
  const t = useT();
  const { art } = useBoot();
  const headingId = useId();
  const { data: products, error, isPending } = useFeaturedProducts();
  const carousel = useCarousel();
  const artwork = useFeaturedArtwork(products);
  const work = artwork.product && artworkHeading(artwork.product, t);
  // This component sets the title of the home page, because the open work is the only thing that changes it.
  usePageTitle(artwork.isPending ? null : (work ?? undefined));
  // Cards stay rendered after the carousel has moved back, because one of them may have the focus.
  const [furthest, setFurthest] = useState(0);
  if (carousel.selected > furthest) setFurthest(carousel.selected);

  useEffect(() => {
    if (error) console.error("The featured works could not be loaded", error);
  }, [error]);

  if (!isPending && (!products || products.length === 0)) return null;
  const cardClasses = "min-w-0 flex-[0_0_calc(100%*var(--part))]";

  return (
    <>
      <noscript>
        {import.meta.env.SSR && (
          <NoscriptArtwork product={products?.find(({ id }) => id === art)} />
        )}
      </noscript>
      <section
        aria-labelledby={trustedBy.text ? headingId : undefined}
        onKeyDown={carousel.onKeyDown}
        data-loading={isPending || undefined}
        className="py-section strip-sizes overflow-x-clip"
        style={tallestStyle(products)}
      >
        <div className="page-container">
          <div className="flex items-end justify-between gap-8">
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
              <ul className="flex touch-pan-y touch-pinch-zoom">
                {products
                  ? products.map((product, n) => (
                      <li key={product.id} className={cardClasses}>
                        {n <= furthest + CARDS_AHEAD && (
                          <ArtworkCard
                            product={product}
                            onOpen={artwork.open}
                            layout={stripLayout}
                          />
                        )}
                      </li>
                    ))
                  : [0, 1, 2].map((n) => (
                      <li key={n} className={cardClasses}>
                        <CardSkeleton index={n} layout="strip" />
                      </li>
                    ))}
              </ul>
            </div>
          </div>
          {carousel.driver}
          {(!products || products.length > 1) && (
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
