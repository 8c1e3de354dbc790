import { useImperativeHandle, useLayoutEffect, useRef, useState, type ComponentProps } from "react";
import { renditionUrl, pickWidth, type VideoInfo } from "@/lib/media";
import { useHydrated } from "@/lib/use-hydrated";

type VideoProps = ComponentProps<"video"> & {
  src: string;
  /**
   * Metadata of the video and of its still (the picture that is shown until the video plays). Without metadata of the still,
   * the file at `poster` is shown unchanged.
   */
  info?: VideoInfo;
  /** The rendered width in CSS pixels; by default the width of the screen. */
  cssWidth?: number;
};

/** The maximum number of pixels of a still per CSS pixel: 0.7 times three, as for pictures (sizesText of lib/media.ts). */
const MAX_DENSITY = 2.1;
/** The width of the still in the server's HTML, in pixels: a width for phones, because the server does not know the screen. */
const SERVER_STILL_WIDTH = 800;

/**
 * A video element that plays inline and by default downloads the video only when it is played. Until then it shows the still in a
 * width that fits the screen. A `poster` that equals `src` is ignored, because browsers cannot show a video as a picture: rows of
 * covers may have the URL of the video in place of the still's.
 */
export function Video({ ref, src, info, poster, cssWidth, preload = "none", ...rest }: VideoProps) {
  const video = useRef<HTMLVideoElement>(null);
  useImperativeHandle(ref, () => video.current!);
  // A video may fail before its element is in the page. React drops the events of an element that is not in the page, so this effect
  // repeats the error event.
  useLayoutEffect(() => {
    if (video.current?.error) video.current.dispatchEvent(new Event("error"));
  }, []);
  const hydrated = useHydrated();
  // The visitor's screen; false during hydration. The still then keeps the width that it has in the server's HTML, because the
  // browser would download a second file for another width.
  const [screen] = useState(() => hydrated && { width: innerWidth, density: devicePixelRatio });
  const still = info?.still;
  let stillUrl = poster === src ? undefined : poster;
  if (still) {
    // A video element has one poster URL and no srcset, so the width is chosen here.
    const width = screen
      ? pickWidth(still.widths, cssWidth ?? screen.width, Math.min(screen.density, MAX_DENSITY))
      : pickWidth(still.widths, SERVER_STILL_WIDTH, 1);
    stillUrl = renditionUrl(info.poster!, `width=${width}&v=${still.v}`);
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
      poster={stillUrl}
    />
  );
}
