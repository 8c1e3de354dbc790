import { useEffect, useId, useState } from "react";
import { CarouselArrows } from "@/components/media/carousel-arrows";
import { Dots, useCarousel } from "@/components/media/carousel";
import { useSiteText } from "@/lib/site-text";
import type { Product } from "@/lib/types";
import { useFeaturedProducts } from "@/features/artworks/api/get-featured-products";
import { ArtworkDialogLoader } from "@/features/artworks/components/artwork-dialog-loader";
import { Hang } from "@/features/artworks/components/hang";
import { RailSkeleton } from "@/features/artworks/components/rail-skeleton";
import { strip } from "@/features/artworks/hang-layout";
import { useArtworkInHistory } from "@/features/artworks/hooks/use-artwork-in-history";

/** Works beyond the selected one that are drawn: more than a screen shows and one movement reaches. */
const AHEAD = 12;

type FeaturedStripProps = { onAsk(product: Product): void };

/** The featured works on one rail that runs across the whole screen; absent when there are none. */
export function FeaturedStrip({ onAsk }: FeaturedStripProps) {
  const trustedBy = useSiteText("testimonials.trustedBy");
  const headingId = useId();
  const { data: products, error, isPending } = useFeaturedProducts();
  const carousel = useCarousel();
  const artwork = useArtworkInHistory(products);
  // What was drawn once stays: the keyboard's focus may be on it.
  const [furthest, setFurthest] = useState(0);
  if (carousel.selected > furthest) setFurthest(carousel.selected);

  useEffect(() => {
    if (error) console.error("The featured works could not be loaded", error);
  }, [error]);

  if (!isPending && (!products || products.length === 0)) return null;
  const card = "min-w-0 flex-[0_0_75%] md:flex-[0_0_50%] lg:flex-[0_0_33.3333%] xl:flex-[0_0_25%]";

  return (
    <>
      <section
        aria-labelledby={trustedBy.text ? headingId : undefined}
        onKeyDown={carousel.onKeyDown}
        data-waiting={isPending || undefined}
        className="py-section overflow-x-clip [--hang-gap:clamp(20px,2.6vw,44px)] [--strip-height:clamp(280px,26vw,400px)]"
      >
        <div className="wrap">
          <div className="flex items-end justify-between gap-8">
            <h2
              id={headingId}
              lang={trustedBy.lang}
              hidden={!trustedBy.text}
              className="text-h2 osf"
            >
              {trustedBy.text}
            </h2>
            <CarouselArrows {...carousel} className="max-md:hidden" />
          </div>
          <div className="relative mt-[clamp(30px,1.2rem+2.6vw,56px)]">
            <span
              aria-hidden="true"
              className="bg-rail absolute inset-x-[-100vw] top-(--strip-height) h-px"
            />
            {/* The works may leave the column on both sides; the section cuts at the edge of the screen. */}
            <div ref={carousel.viewportRef} data-rail="" aria-busy={isPending || undefined}>
              <ul className="flex touch-pan-y touch-pinch-zoom">
                {products
                  ? products.map((product, n) => (
                      <li key={product.id} className={card}>
                        {n <= furthest + AHEAD && (
                          <Hang product={product} onOpen={artwork.open} layout={strip} />
                        )}
                      </li>
                    ))
                  : [0, 1, 2].map((n) => (
                      <li key={n} className={card}>
                        <RailSkeleton index={n} layout="strip" />
                      </li>
                    ))}
              </ul>
            </div>
          </div>
          {carousel.driver}
          <div className="mt-8 flex min-h-12 items-center justify-between md:mt-10">
            <Dots selected={carousel.selected} count={carousel.snaps} />
            <CarouselArrows {...carousel} className="ml-auto md:hidden" />
          </div>
        </div>
      </section>
      {/* Outside: its arrow keys are its own, and React passes them on to the parents. */}
      <ArtworkDialogLoader product={artwork.product} onClose={artwork.close} onAsk={onAsk} />
    </>
  );
}
