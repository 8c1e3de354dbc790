import type { Ref } from "react";
import { Film } from "@/components/media/film";
import { Picture } from "@/components/media/picture";
import { filmInfo, imageInfo, ratioOf, uprightCut } from "@/lib/media";
import type { CoverImage } from "@/lib/types";
import type { SlideKind } from "@/features/hero/hero-machine";

type HeroSlideProps = {
  cover: CoverImage;
  kind: SlideKind;
  first: boolean;
  /** False while this slide's file must wait for more urgent ones. */
  wanted: boolean;
  /** The page has loaded and this slide is the one that is shown, or the next: a film may come, whole. */
  near: boolean;
  filmRef: Ref<HTMLVideoElement>;
  onPause(): void;
};

const PHONE = "(max-aspect-ratio:3/5)";

/** The media of one cover: the only place on the public pages where a work is cropped. */
export function HeroSlide({ cover, kind, first, wanted, near, filmRef, onPause }: HeroSlideProps) {
  const fill = "absolute inset-0 size-full object-cover object-[50%_62%]";
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
        className={fill}
      />
    );
  }
  const info = imageInfo(cover, cover.image_url);
  return (
    <Picture
      src={cover.image_url}
      alt={cover.title ?? ""}
      info={info}
      // What the band leaves of the screen is filled; on a portrait one the sides are cut.
      sizes={[["", `max(100vw,(100svh - 13rem)*${ratioOf(info)})`]]}
      // Where the owner has named a point, the browser cuts around it.
      cut={
        info && !info.focus
          ? uprightCut(cover.image_url, info, PHONE, "max(100vw,(100svh - 13rem)*.8)")
          : null
      }
      bounds={[640, Infinity]}
      fit="cover"
      priority={first}
      eager
      onMissing={() => undefined}
      className={fill}
    />
  );
}
