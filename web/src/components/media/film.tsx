import type { ComponentProps } from "react";

type FilmProps = ComponentProps<"video"> & { src: string };

/** A plain video element, inline and without autoplay; the owner's stored poster may equal the film itself. */
export function Film({ src, poster, preload = "metadata", ...rest }: FilmProps) {
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- the works are silent studies without speech
    <video
      playsInline
      {...rest}
      src={src}
      preload={preload}
      poster={poster && poster !== src ? poster : undefined}
    />
  );
}
