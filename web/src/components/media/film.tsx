import { useMemo, type ComponentProps } from "react";
import { renditionUrl, rungFor, type FilmInfo } from "@/lib/media";

type FilmProps = ComponentProps<"video"> & {
  src: string;
  info?: FilmInfo;
  /** How wide it is shown in CSS pixels; without it, at most as wide as the screen. */
  shown?: number;
};

/** Of a still that little is known of: wide enough for a stage, small enough for a phone. */
const POSTER_WIDTH = 1024;
/** As for pictures: denser screens get what those of two device pixels get. */
const MOST_DENSE = 2.1;

/** A video element takes one address: the rung that fits the screen there is now. */
function posterOf(src: string, info: FilmInfo | undefined, own?: string, shown = innerWidth) {
  const poster = info?.poster ?? own;
  if (!poster || poster === src) return;
  if (info?.poster && info.still) {
    const { widths, v } = info.still;
    const width = rungFor(widths, shown, Math.min(devicePixelRatio, MOST_DENSE));
    return renditionUrl(poster, `width=${width}&v=${v}`);
  }
  return poster.includes("/object/public/")
    ? renditionUrl(poster, `width=${POSTER_WIDTH}`)
    : poster;
}

/**
 * A plain video element, inline and without autoplay. Nothing of the film is asked for before it is played;
 * the owner's stored poster may equal the film itself.
 */
export function Film({ src, info, poster, shown, preload = "none", ...rest }: FilmProps) {
  // Once: a window that is made wider asks for no second poster.
  const still = useMemo(() => posterOf(src, info, poster, shown), [src, info, poster, shown]);
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- the works are silent studies without speech
    <video
      playsInline
      width={info?.width}
      height={info?.height}
      {...rest}
      src={src}
      preload={preload}
      poster={still}
    />
  );
}
