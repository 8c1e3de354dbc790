import type { Ref } from "react";
import { Film } from "@/components/media/film";
import { Picture } from "@/components/media/picture";
import { filmInfo, imageInfo, ratioOf, portraitCrop } from "@/lib/media";
import type { CoverImage } from "@/lib/types";
import type { SlideKind } from "@/features/hero/hero-machine";

type HeroSlideProps = {
  cover: CoverImage;
  kind: SlideKind;
  /** Whether this is the first slide, whose picture loads with priority. */
  first: boolean;
  /** Whether to load the file; false while more urgent files load. */
  wanted: boolean;
  /** Whether to preload a film: the page has loaded, and the slide is the current or the next one. */
  near: boolean;
  filmRef: Ref<HTMLVideoElement>;
  onPause(): void;
};

/** The media query of tall windows, such as those of phones. */
const PHONE = "(max-aspect-ratio:3/5)";

/** The picture or film of one cover. It fills the slide and is cropped; everywhere else works are shown whole. */
export function HeroSlide({ cover, kind, first, wanted, near, filmRef, onPause }: HeroSlideProps) {
  const fillClasses = "absolute inset-0 size-full object-cover object-[50%_62%]";
  if (!wanted) return null;
  if (kind === "video") {
    return (
      <Film
        ref={filmRef}
        src={cover.image_url}
        info={filmInfo(cover, cover.image_url)}
        poster={cover.video_thumbnail_url ?? undefined}
        muted
        loop
        preload={near ? "auto" : "none"}
        disablePictureInPicture
        aria-label={cover.title ?? undefined}
        onPause={onPause}
        onError={() => console.error("The cover film could not be loaded", cover.image_url)}
        className={fillClasses}
      />
    );
  }
  const info = imageInfo(cover, cover.image_url);
  return (
    <Picture
      src={cover.image_url}
      alt={cover.title ?? ""}
      info={info}
      // The picture fills the window above the band, so on a narrow window it is rendered wider than the window.
      sizes={[["", `max(100vw,(100svh - 13rem)*${ratioOf(info)})`]]}
      // With a focus point the browser crops the whole picture around it; the server's crop is centred.
      crop={
        info && !info.focus
          ? portraitCrop(cover.image_url, info, PHONE, "max(100vw,(100svh - 13rem)*.8)")
          : null
      }
      bounds={[640, Infinity]}
      fit="cover"
      priority={first}
      eager
      // If the picture cannot be shown, the neutral colour of the carousel is seen instead of a placeholder.
      onMissing={() => undefined}
      className={fillClasses}
    />
  );
}
