import { useImperativeHandle, useLayoutEffect, useRef, useState, type ComponentProps } from "react";
import { renditionUrl, pickWidth, type VideoInfo } from "@/lib/media";
import { useHydrated } from "@/lib/use-hydrated";

type VideoProps = ComponentProps<"video"> & {
  src: string;
  /**
   * Metadata of the video and of its still, the picture shown until the video plays. Without metadata of the still, `poster`
   * is shown unchanged.
   */
  info?: VideoInfo;
  /** The rendered width in CSS pixels; by default the width of the screen. */
  cssWidth?: number;
};

/** The maximum number of pixels of a still per CSS pixel, as for pictures. Screens can have three pixels per CSS pixel. */
const MAX_DENSITY = 2.1;
/**
 * The width of the still in the server's HTML, in pixels: a width for phones, because the server does not know the screen.
 */
const SERVER_POSTER_WIDTH = 800;

/**
 * A video element that plays inline and by default downloads the video only when it is played. Until then it shows the
 * still, a picture of the video, in a width that fits the screen. A `poster` that equals `src` is ignored: rows of covers
 * store the URL of the video there, and browsers cannot show a video as a picture.
 */
export function Video({ ref, src, info, poster, cssWidth, preload = "none", ...rest }: VideoProps) {
  const video = useRef<HTMLVideoElement>(null);
  useImperativeHandle(ref, () => video.current!);
  // A video may fail before its element is in the page. React drops the events of such an element, so the error event is
  // repeated here.
  useLayoutEffect(() => {
    if (video.current?.error) video.current.dispatchEvent(new Event("error"));
  }, []);
  const hydrated = useHydrated();
  // The visitor's screen. False during hydration, so that the still keeps the width that it has in the server's HTML. With
  // another width the browser would download a second file.
  const [screen] = useState(() => hydrated && { width: innerWidth, density: devicePixelRatio });
  const still = info?.still;
  let picture = poster === src ? undefined : poster;
  if (still) {
    // A video element has one poster URL and no srcset, so the width is chosen here.
    const width = screen
      ? pickWidth(still.widths, cssWidth ?? screen.width, Math.min(screen.density, MAX_DENSITY))
      : pickWidth(still.widths, SERVER_POSTER_WIDTH, 1);
    picture = renditionUrl(info.poster!, `width=${width}&v=${still.v}`);
  }
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- the videos have no speech
    <video
      playsInline
      width={info?.width}
      height={info?.height}
      {...rest}
      ref={video}
      src={src}
      preload={preload}
      poster={picture}
    />
  );
}
