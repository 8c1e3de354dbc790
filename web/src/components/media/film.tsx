import { useState, useSyncExternalStore, type ComponentProps } from "react";
import { renditionUrl, rungFor, type FilmInfo } from "@/lib/media";

type FilmProps = ComponentProps<"video"> & {
  src: string;
  info?: FilmInfo;
  /** How wide it is shown in CSS pixels; without it, at most as wide as the screen. */
  shown?: number;
};

/** As for pictures: denser screens get what those of two device pixels get. */
const MOST_DENSE = 2.1;
/** Device pixels that a still gets in a page from the server, which does not know the screen: a phone's. */
const UNKNOWN_SCREEN = 800;
const never = () => () => undefined;

/**
 * A plain video element, inline and without autoplay. Nothing of the film is asked for before it is played;
 * the owner's stored poster may equal the film itself.
 */
export function Film({ src, info, poster, shown, preload = "none", ...rest }: FilmProps) {
  const known = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  // What the server has chosen stays: another size would be a second download of the same picture.
  const [screen] = useState(() => known && { width: innerWidth, density: devicePixelRatio });
  const still = info?.still;
  let picture = poster === src ? undefined : poster;
  if (still) {
    // A video element takes one address: the rung that fits the screen there is now.
    const width = screen
      ? rungFor(still.widths, shown ?? screen.width, Math.min(screen.density, MOST_DENSE))
      : rungFor(still.widths, UNKNOWN_SCREEN, 1);
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
