import { useState } from "react";
import { useT } from "@/lib/i18n";
import type { CoverImage } from "@/lib/types";
import { HeroBand } from "@/features/hero/components/hero-band";
import { HeroSlide } from "@/features/hero/components/hero-slide";
import type { SlideKind } from "@/features/hero/hero-machine";
import { usePageLoaded } from "@/features/hero/hooks/use-page-loaded";
import { useHero } from "@/features/hero/hooks/use-hero";
import { usePreparedSlides } from "@/features/hero/hooks/use-prepared-slides";

/**
 * The carousel of covers, the large pictures and videos at the top of the home page. It changes slides
 * by itself; the state machine in hero-machine.ts decides when.
 */
export function HeroCarousel({ covers }: { covers: CoverImage[] }) {
  const t = useT();
  // Any media type other than "video" is an image (docs/product.md, Hero).
  const kinds = covers.map((cover): SlideKind =>
    cover.media_type === "video" ? "video" : "image",
  );
  const pageLoaded = usePageLoaded();
  const hero = useHero(kinds, pageLoaded);
  const { index } = hero.state;
  // Whether the visitor has pointed at the hero, touched it or focused something in it.
  const [isUsed, setIsUsed] = useState(false);
  const prepared = usePreparedSlides(hero.state, pageLoaded, isUsed, hero.loadDriver);
  const markUsed = () => setIsUsed(true);

  return (
    <section
      ref={hero.section}
      data-hero=""
      aria-roledescription="carousel"
      aria-label={t("hero.label")}
      onKeyDown={hero.onKeyDown}
      onPointerMove={markUsed}
      onPointerDown={markUsed}
      onFocus={markUsed}
      // With a very long title the section grows beyond the screen, so that the pictures keep at least 12rem.
      className="bg-band grid min-h-[max(100svh,26rem)] grid-rows-[minmax(12rem,1fr)_auto]"
    >
      <div ref={hero.viewportRef} className="bg-neutral overflow-hidden">
        <div className="flex h-full swipeable">
          {covers.map((cover, n) => (
            <div
              key={cover.id}
              role="group"
              aria-roledescription="slide"
              aria-label={t("carousel.position", { n: n + 1, total: covers.length })}
              aria-hidden={n !== index}
              className="relative min-w-0 flex-[0_0_100%]"
            >
              <HeroSlide
                cover={cover}
                kind={kinds[n] ?? "image"}
                first={n === 0}
                prepared={prepared.has(n)}
                pageLoaded={pageLoaded}
                videoRef={hero.videoRef(n)}
                onPause={() => hero.videoPaused(n)}
              />
            </div>
          ))}
        </div>
      </div>
      {/* Moves the carousel, and renders nothing. */}
      {hero.driver}
      <HeroBand covers={covers} kinds={kinds} hero={hero} />
    </section>
  );
}
