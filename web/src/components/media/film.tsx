import type { ComponentProps } from "react";
import { renditionUrl, type FilmInfo } from "@/lib/media";

type FilmProps = ComponentProps<"video"> & { src: string; info?: FilmInfo };

/** Wide enough for a stage, small enough for a phone: a film has one poster for all screens. */
const POSTER_WIDTH = 1024;

function posterOf(src: string, poster: string | undefined) {
  if (!poster || poster === src) return;
  const own = poster.includes("/object/public/");
  return own ? renditionUrl(poster, `width=${POSTER_WIDTH}`) : poster;
}

/**
 * A plain video element, inline and without autoplay. Nothing of the film is asked for before it is played;
 * the owner's stored poster may equal the film itself.
 */
export function Film({ src, info, poster, preload = "none", ...rest }: FilmProps) {
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- the works are silent studies without speech
    <video
      playsInline
      width={info?.width}
      height={info?.height}
      {...rest}
      src={src}
      preload={preload}
      poster={posterOf(src, info?.poster ?? poster)}
    />
  );
}
