import { useT } from "@/lib/i18n";
import type { CoverImage } from "@/lib/types";
import { HeroBand } from "@/features/hero/components/hero-band";
import { HeroSlide } from "@/features/hero/components/hero-slide";
import type { SlideKind } from "@/features/hero/hero-machine";
import { useAfterLoad } from "@/features/hero/hooks/use-after-load";
import { useHero } from "@/features/hero/hooks/use-hero";

export function HeroCarousel({ covers }: { covers: CoverImage[] }) {
  const t = useT();
  // Any media type but "video" is an image (specification §3).
  const kinds = covers.map((cover): SlideKind =>
    cover.media_type === "video" ? "video" : "image",
  );
  const afterLoad = useAfterLoad();
  const hero = useHero(kinds, afterLoad);
  const { index } = hero.state;

  return (
    <section
      ref={hero.section}
      data-hero=""
      aria-roledescription="carousel"
      aria-label={t("hero.label")}
      onKeyDown={hero.onKeyDown}
      // A very long title makes the band grow; then the whole grows beyond the screen, and the media stay visible.
      className="bg-barra grid min-h-[max(100svh,26rem)] grid-rows-[minmax(12rem,1fr)_auto]"
    >
      <div ref={hero.viewportRef} className="bg-fundo overflow-hidden">
        <div className="flex h-full touch-pan-y touch-pinch-zoom">
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
                // Only the first slide may compete for the line before the page is there.
                wanted={n === 0 || n === index || afterLoad}
                near={afterLoad && (n === index || n === (index + 1) % covers.length)}
                filmRef={hero.filmRef(n)}
                onPause={() => hero.filmPaused(n)}
              />
            </div>
          ))}
        </div>
      </div>
      {hero.driver}
      <HeroBand covers={covers} kinds={kinds} hero={hero} />
    </section>
  );
}
