import { useState, useSyncExternalStore, type ComponentProps } from "react";
import { renditionUrl, pickWidth, type FilmInfo } from "@/lib/media";

type FilmProps = ComponentProps<"video"> & {
  src: string;
  info?: FilmInfo;
  /** The rendered width in CSS pixels; by default that of the screen. */
  shown?: number;
};

/** The limit of device pixels per CSS pixel: the same by which sizesText (lib/media.ts) limits pictures on dense screens. */
const MAX_DENSITY = 2.1;
/** Width of the still in the HTML of the server, which does not know the screen: the device pixels of a phone. */
const SERVER_POSTER_WIDTH = 800;
/** A subscription to something that never changes. */
const never = () => () => undefined;

/**
 * A video element that plays inline and by default downloads the film only when it is played. Until then it shows the
 * still, a picture of the film, in a width that fits the screen. A `poster` that equals `src` is ignored: cover rows
 * store the film's own address there, which browsers cannot show as a picture.
 */
export function Film({ src, info, poster, shown, preload = "none", ...rest }: FilmProps) {
  const hydrated = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  // Keeps the width of the server's HTML: another width would download the same picture twice.
  const [screen] = useState(() => hydrated && { width: innerWidth, density: devicePixelRatio });
  const still = info?.still;
  let picture = poster === src ? undefined : poster;
  if (still) {
    // A video element has one poster address and no srcset, so the width is chosen here.
    const width = screen
      ? pickWidth(still.widths, shown ?? screen.width, Math.min(screen.density, MAX_DENSITY))
      : pickWidth(still.widths, SERVER_POSTER_WIDTH, 1);
    picture = renditionUrl(info.poster!, `width=${width}&v=${still.v}`);
  }
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- the films have no speech
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
