import type { ComponentProps } from "react";
import { renditionUrl, rungFor, type FilmInfo } from "@/lib/media";

type FilmProps = ComponentProps<"video"> & {
  src: string;
  info?: FilmInfo;
  /** How wide it is shown in CSS pixels; without it, at most as wide as the screen. */
  shown?: number;
};

/** As for pictures: denser screens get what those of two device pixels get. */
const MOST_DENSE = 2.1;

/**
 * A plain video element, inline and without autoplay. Nothing of the film is asked for before it is played;
 * the owner's stored poster may equal the film itself.
 */
export function Film({ src, info, poster, shown, preload = "none", ...rest }: FilmProps) {
  const still = info?.still;
  let picture = poster === src ? undefined : poster;
  if (still) {
    // A video element takes one address: the rung that fits the screen there is now.
    const width = rungFor(
      still.widths,
      shown ?? innerWidth,
      Math.min(devicePixelRatio, MOST_DENSE),
    );
    picture = renditionUrl(info.poster!, `width=${width}&v=${still.v}`);
  }
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- the works are silent studies without speech
    <video
      playsInline
      width={info?.width}
      height={info?.height}
      {...rest}
      src={src}
      preload={preload}
      poster={picture}
    />
  );
}
