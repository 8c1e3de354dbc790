import { Suspense, useEffect, useRef, useState } from "react";
import { ZoomIn } from "lucide-react";
import type { useCarousel } from "@/components/media/carousel";
import { CarouselArrows } from "@/components/media/carousel-arrows";
import { Video } from "@/components/media/video";
import { MissingPicture } from "@/components/media/missing-picture";
import { Picture } from "@/components/media/picture";
import { IconButton } from "@/components/ui/icon-button";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import type { LocalText } from "@/lib/local-text";
import { ratioStyle, type ImageInfo, type Sizes } from "@/lib/media";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import "@/lib/work-texts";
import type { artworkMedia } from "@/features/artworks/artwork-media";
import { useZoomHistory } from "@/features/artworks/hooks/use-zoom-history";

const ArtworkZoom = lazyWithPreload(() =>
  import("@/features/artworks/components/artwork-zoom").then((m) => m.ArtworkZoom),
);

type ArtworkStageProps = {
  /** The pictures and videos of the work in their order. */
  media: ReturnType<typeof artworkMedia>;
  /** The carousel's state. It is made by the dialog, which handles its keys. */
  carousel: ReturnType<typeof useCarousel>;
  title: LocalText;
};

/** The carousel of a work's uncropped pictures and videos in its dialog, with a button to zoom into pictures. */
export function ArtworkStage({ media, carousel, title: workTitle }: ArtworkStageProps) {
  const t = useT();
  const title = workTitle.text;
  const several = media.length > 1;
  const videos = useRef(new Map<number, HTMLVideoElement>());
  const { selected } = carousel;
  const zoom = useZoomHistory();
  const selectedItem = media[selected];
  const zoomedItem = media.find(({ url }) => url === zoom.zoomed);

  // Videos of other slides must not go on playing unseen.
  useEffect(() => {
    for (const [n, video] of videos.current) if (n !== selected) video.pause();
  }, [selected]);

  return (
    <section
      aria-label={t("gallery.media", { title })}
      aria-roledescription={several ? "carousel" : undefined}
      className="bg-shade relative grid min-h-0 min-w-0 grid-rows-[minmax(0,1fr)_auto]"
    >
      <div ref={several ? carousel.viewportRef : undefined} className="min-h-0 overflow-hidden">
        <div className="flex h-full swipeable">
          {media.length === 0 && (
            <div className="grid flex-[0_0_100%] place-items-center">
              <NoPicture />
            </div>
          )}
          {media.map((item, n) => (
            <div
              key={item.url}
              role={several ? "group" : undefined}
              aria-roledescription={several ? "slide" : undefined}
              aria-label={
                several ? t("carousel.position", { n: n + 1, total: media.length }) : undefined
              }
              inert={n !== selected}
              className="relative min-w-0 flex-[0_0_100%]"
            >
              {/* This element has one grid cell, to which the percentages of the media refer. */}
              <div
                className={cn(
                  "@container-[size] absolute inset-x-5 top-14 grid grid-cols-[100%] grid-rows-[100%] place-items-center md:inset-x-12 md:top-11",
                  several ? "bottom-4 md:bottom-9" : "bottom-8 md:bottom-11",
                )}
              >
                {item.kind === "video" ? (
                  <Video
                    ref={(video) => {
                      if (video) videos.current.set(n, video);
                      else videos.current.delete(n);
                    }}
                    src={item.url}
                    info={item.info}
                    // A selected video loads its metadata, which shows duration and first frame.
                    preload={n === selected ? "metadata" : "none"}
                    controls
                    aria-label={t("gallery.video", { title })}
                    onError={() => console.error("The video could not be loaded", item.url)}
                    className="h-auto max-h-full w-full"
                  />
                ) : (
                  <StagePicture
                    url={item.url}
                    info={item.info}
                    alt={item.alt.text ? item.alt : workTitle}
                    eager={n === 0}
                    several={several}
                    onZoom={() => zoom.open(item.url)}
                  />
                )}
              </div>
            </div>
          ))}
        </div>
      </div>
      {selectedItem?.kind === "image" && selectedItem.info && (
        <IconButton
          variant="ghost"
          label={t("zoom.open", { title })}
          aria-haspopup="dialog"
          className="absolute top-1 left-1 z-10 md:top-3.5 md:left-3.5"
          onClick={() => zoom.open(selectedItem.url)}
        >
          <ZoomIn aria-hidden="true" size={22} strokeWidth={1.5} />
        </IconButton>
      )}
      {zoomedItem?.kind === "image" && zoomedItem.info && (
        <Suspense>
          <ArtworkZoom
            src={zoomedItem.url}
            info={zoomedItem.info}
            title={title}
            alt={zoomedItem.alt.text ? zoomedItem.alt : workTitle}
            onClose={zoom.close}
          />
        </Suspense>
      )}
      {several && (
        <div className="flex items-center justify-between pr-5 pb-[18px] pl-5 md:pl-[35px]">
          <p className="oldstyle" aria-live="polite">
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

type StagePictureProps = {
  url: string;
  info: ImageInfo | undefined;
  alt: LocalText;
  eager: boolean;
  several: boolean;
  onZoom(): void;
};

/** A picture on the stage. A click on it zooms, if the server has its metadata. */
function StagePicture({ url, info, alt, eager, several, onZoom }: StagePictureProps) {
  const [missing, setMissing] = useState(false);
  if (missing) return <NoPicture />;
  return (
    <>
      <Picture
        src={url}
        alt={alt.text}
        lang={alt.lang}
        info={info}
        sizes={info && stageSizes(info.width / info.height, several)}
        eager={eager}
        onMissing={() => setMissing(true)}
        style={info && ratioStyle(info)}
        className={cn(
          "work-shadow h-auto [grid-area:1/1]",
          info ? onStage : "max-h-full w-auto max-w-full",
        )}
      />
      {info && (
        // A click on the picture zooms. Hidden from the keyboard, for which there is the button in the corner.
        <span
          aria-hidden="true"
          onClick={onZoom}
          style={ratioStyle(info)}
          className={cn("aspect-(--ratio) cursor-zoom-in [grid-area:1/1]", onStage)}
        />
      )}
    </>
  );
}

/** The class that makes a picture as large as the stage allows, but not larger than its file. */
const onStage = "w-[min(100cqw,100cqh*var(--ratio),var(--px))]";

/**
 * Rendered widths of a picture on the stage: the dialog's size in CSS lengths minus margins, details and row of arrows.
 */
function stageSizes(ratio: number, several: boolean): Sizes {
  const dialog = (margin: string) =>
    `min(min(1280px,100vw - ${margin}) - clamp(300px,34vw,392px) - 96px,(min(820px,100dvh - 64px) - 10px - ${several ? 146 : 88}px)*${ratio})`;
  return [
    ["(min-width:64rem)", dialog("80px")],
    ["(min-width:48rem)", dialog("64px")],
    ["", `min(100vw - 40px,(56svh - ${several ? 138 : 88}px)*${ratio})`],
  ];
}

/** The placeholder of a work without a picture. */
function NoPicture() {
  const t = useT();
  return <MissingPicture label={t("gallery.noImage")} className="aspect-4/5 h-3/5" />;
}
