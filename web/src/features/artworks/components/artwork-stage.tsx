import { useEffect, useRef, useState } from "react";
import type { useCarousel } from "@/components/media/carousel";
import { CarouselArrows } from "@/components/media/carousel-arrows";
import { Film } from "@/components/media/film";
import { MissingPicture } from "@/components/media/missing-picture";
import { Picture } from "@/components/media/picture";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import type { artworkMedia } from "@/features/artworks/artwork-media";

type ArtworkStageProps = {
  media: ReturnType<typeof artworkMedia>;
  carousel: ReturnType<typeof useCarousel>;
  title: string;
};

/** Main image, further images and films of one work, each of them whole. */
export function ArtworkStage({ media, carousel, title }: ArtworkStageProps) {
  const t = useT();
  const several = media.length > 1;
  const films = useRef(new Map<number, HTMLVideoElement>());
  const { selected } = carousel;

  useEffect(() => {
    for (const [n, film] of films.current) if (n !== selected) film.pause();
  }, [selected]);

  return (
    <section
      aria-label={t("gallery.media", { title })}
      aria-roledescription={several ? "carousel" : undefined}
      className="bg-sombra grid min-h-0 min-w-0 grid-rows-[minmax(0,1fr)_auto]"
    >
      <div ref={several ? carousel.viewportRef : undefined} className="min-h-0 overflow-hidden">
        <div className="flex h-full touch-pan-y touch-pinch-zoom">
          {media.length === 0 && (
            <div className="grid flex-[0_0_100%] place-items-center">
              <NoPicture />
            </div>
          )}
          {media.map(({ kind, url }, n) => (
            <div
              key={url}
              role={several ? "group" : undefined}
              aria-roledescription={several ? "slide" : undefined}
              aria-label={
                several ? t("carousel.position", { n: n + 1, total: media.length }) : undefined
              }
              inert={n !== selected}
              className="relative min-w-0 flex-[0_0_100%]"
            >
              {/* The one grid cell gives the percentages below a size to refer to. */}
              <div
                className={cn(
                  "absolute inset-x-5 top-14 grid grid-cols-[100%] grid-rows-[100%] place-items-center md:inset-x-12 md:top-11",
                  several ? "bottom-4 md:bottom-9" : "bottom-8 md:bottom-11",
                )}
              >
                {kind === "video" ? (
                  <Film
                    ref={(film) => {
                      if (film) films.current.set(n, film);
                      else films.current.delete(n);
                    }}
                    src={url}
                    controls
                    aria-label={t("gallery.video", { title })}
                    onError={() => console.error("The film could not be loaded", url)}
                    className="max-h-full w-full"
                  />
                ) : (
                  <StagePicture url={url} title={title} eager={n === 0} />
                )}
              </div>
            </div>
          ))}
        </div>
      </div>
      {several && (
        <div className="flex items-center justify-between pr-5 pb-[18px] pl-5 md:pl-[35px]">
          <p className="osf" aria-live="polite">
            <span aria-hidden="true">
              {selected + 1} / {media.length}
            </span>
            <span className="sr-only">
              {t("carousel.position", { n: selected + 1, total: media.length })}
            </span>
          </p>
          <CarouselArrows {...carousel} canPrev canNext />
        </div>
      )}
    </section>
  );
}

function StagePicture({ url, title, eager }: { url: string; title: string; eager: boolean }) {
  const [missing, setMissing] = useState(false);
  if (missing) return <NoPicture />;
  return (
    <Picture
      src={url}
      alt={title}
      sizes="(min-width: 48rem) 62vw, 100vw"
      eager={eager}
      onMissing={() => setMissing(true)}
      className="shadow-work h-auto max-h-full w-auto max-w-full"
    />
  );
}

function NoPicture() {
  const t = useT();
  return <MissingPicture label={t("gallery.noImage")} className="aspect-4/5 h-3/5" />;
}
