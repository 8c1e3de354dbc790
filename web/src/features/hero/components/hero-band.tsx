import { ChevronLeft, ChevronRight, Pause, Play } from "lucide-react";
import { Link } from "@/components/ui/link";
import { buttonClasses } from "@/components/ui/button-classes";
import { IconButton } from "@/components/ui/icon-button";
import { useBoot } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { HERO_DWELL_MS } from "@/lib/constants";
import { useLanguage } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import type { CoverImage } from "@/lib/types";
import type { HeroState, SlideKind } from "@/features/hero/hero-machine";
import type { useHero } from "@/features/hero/hooks/use-hero";

type HeroBandProps = {
  covers: CoverImage[];
  /** Whether each cover is a picture or a video, in the order of `covers`. */
  kinds: readonly SlideKind[];
  /** The state of the carousel, and the functions and handlers that control it. */
  hero: ReturnType<typeof useHero>;
};

/**
 * The band below the hero's pictures: the title and description of the current cover, the link to the gallery, a button that pauses
 * and plays, and arrows. Above them, DwellLine shows how much of the current picture's time has passed.
 */
export function HeroBand({ covers, kinds, hero }: HeroBandProps) {
  const { language, t } = useLanguage();
  const { site } = useBoot();
  const texts = covers.map((cover) => ({
    title: rowText(language, cover, "title"),
    description: rowText(language, cover, "description"),
  }));
  const { index, paused, video } = hero.state;
  // Whether a click on the button plays; else it pauses. The button also plays a video that the browser has refused to start.
  const buttonPlays = paused || video === "refused";
  const PlayPauseIcon = buttonPlays ? Play : Pause;
  const hasSeveralCovers = covers.length > 1;
  // A single video has the button too: it pauses the video, or starts the video if the visitor has set reduced motion.
  const hasPauseButton = hasSeveralCovers || kinds[0] === "video";
  const withoutTexts = texts.every(({ title, description }) => !title.text && !description.text);

  return (
    // A picture stays while the pointer or the keyboard focus is on the band (holdHandlers).
    <div {...hero.holdHandlers} className="band relative">
      {hasSeveralCovers && <DwellLine state={hero.state} />}
      <div
        className={cn(
          "page-container grid gap-x-8 gap-y-5 lg:items-end",
          withoutTexts
            ? "py-5 lg:justify-end" // without texts the band has the height of its controls
            : "pt-6 pb-[26px] md:pt-[34px] md:pb-[38px] lg:grid-cols-[minmax(0,1fr)_auto]",
        )}
      >
        <div
          hidden={withoutTexts}
          className="grid wrap-anywhere"
          // Screen readers announce new texts only after the visitor has first clicked an arrow (acted).
          aria-live={hero.acted ? "polite" : "off"}
        >
          {texts.map(({ title, description }, n) => (
            // All texts are in one grid cell, so that the band is as high as the tallest of them.
            <div
              key={covers[n]!.id}
              aria-hidden={n !== index}
              className={cn(
                "ease-soft self-end transition-[opacity,visibility] duration-240 [grid-area:1/1]",
                n !== index && "invisible opacity-0",
              )}
            >
              {/* Beside covers with texts, one without any shows the site's name in the space of their texts. */}
              <p lang={title.lang} className="text-display text-balance">
                {title.text || (!description.text && site.name)}
              </p>
              {description.text && (
                <p
                  lang={description.lang}
                  className="text-on-band-muted mt-3 max-w-[33em] text-[1.125rem] leading-[1.4]"
                >
                  {description.text}
                </p>
              )}
            </div>
          ))}
        </div>
        {/* The flex-basis in rem moves the controls below the link if the visitor's text size is large. */}
        <div className="flex flex-wrap items-center gap-1.5 md:gap-2">
          <Link
            to="/gallery/all"
            className={buttonClasses({
              variant: "white",
              className: "mr-1 grow basis-28 md:mr-auto md:grow-0 md:basis-auto lg:mr-5",
            })}
          >
            {t("hero.exploreGallery")}
          </Link>
          {hasPauseButton && (
            <IconButton
              variant="onBand"
              label={t(buttonPlays ? "hero.play" : "hero.pause")}
              onClick={hero.toggle}
            >
              <PlayPauseIcon aria-hidden="true" size={20} strokeWidth={1.5} />
            </IconButton>
          )}
          {hasSeveralCovers && (
            <>
              <IconButton variant="onBand" label={t("hero.previous")} onClick={hero.prev}>
                <ChevronLeft aria-hidden="true" size={20} strokeWidth={1.75} />
              </IconButton>
              <p className="oldstyle mx-[15px] hidden md:block">
                <span aria-hidden="true">
                  {index + 1} / {covers.length}
                </span>
                <span className="sr-only">
                  {t("carousel.position", { n: index + 1, total: covers.length })}
                </span>
              </p>
              <IconButton variant="onBand" label={t("hero.next")} onClick={hero.next}>
                <ChevronRight aria-hidden="true" size={20} strokeWidth={1.75} />
              </IconButton>
            </>
          )}
        </div>
      </div>
    </div>
  );
}

/** The progress line of a picture's dwell time. Its key restarts the animation for each new dwell. */
function DwellLine({ state }: { state: HeroState }) {
  if (state.slides[state.index] !== "image" || state.dwellLeft === null) return null;
  return (
    <div
      key={state.dwell}
      aria-hidden="true"
      className="bg-ochre animate-dwell absolute inset-x-0 top-0 h-1 origin-left"
      style={{
        animationDuration: `${HERO_DWELL_MS}ms`,
        animationPlayState: state.dwellSince === null ? "paused" : undefined,
      }}
    />
  );
}
