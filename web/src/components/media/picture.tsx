import { useLayoutEffect, useRef, useState, type CSSProperties } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import { cn } from "@/lib/cn";
import {
  sizesText,
  srcSetOf,
  wholeUrl,
  type Bounds,
  type Cut,
  type ImageInfo,
  type Sizes,
} from "@/lib/media";

type PictureProps = {
  src: string;
  alt: string;
  /** What is known of the file; without it the file is shown as it is. */
  info?: ImageInfo;
  /** Natural size in pixels; reserves the space before the file is there. */
  width?: number;
  height?: number;
  sizes?: Sizes;
  /** What screens of another shape get instead. */
  cut?: Cut | null;
  bounds?: Bounds;
  fit?: "contain" | "cover";
  /** The one picture that the page waits for: loaded first and shown without fading. */
  priority?: boolean;
  /** Loaded at once, but not before anything else. */
  eager?: boolean;
  className?: string;
  style?: CSSProperties;
  /** Told when the file cannot be shown; without it a placeholder takes the place. */
  onMissing?(): void;
  onSize?(width: number, height: number): void;
};

/** "whole": the file as it was stored, because no rendition of it could be had. */
type State = { src: string; whole?: boolean; is: "new" | "waiting" | "shown" | "missing" };

/**
 * The one picture component. It is visible in the first render, so that HTML from the server shows it
 * without script; a file still on its way after mount shows its colour, then its thumbhash, and appears
 * when it has been decoded. One of which nothing is known fades in.
 */
export function Picture({
  src,
  alt,
  info,
  width = info?.width,
  height = info?.height,
  sizes,
  cut,
  bounds,
  fit = "contain",
  priority = false,
  eager = false,
  className,
  style,
  onMissing,
  onSize,
}: PictureProps) {
  const img = useRef<HTMLImageElement>(null);
  const [state, setState] = useState<State>({ src, is: "new" });
  const { is, whole }: State = state.src === src ? state : { src, is: "new" };
  const known = sizes && !whole ? info : undefined;
  // Of the file, not of what is tried now: another attempt must not begin anew.
  const hash = sizes && info?.thumbhash;

  function report(element: HTMLImageElement) {
    if (element.naturalWidth > 0) {
      // Behind a picture that is see-through nothing may stay.
      element.style.backgroundImage = "";
      setState({ src, whole, is: "shown" });
      onSize?.(element.naturalWidth, element.naturalHeight);
    } else if (known) {
      setState({ src, whole: true, is: "waiting" });
    } else {
      setState({ src, is: "missing" });
      onMissing?.();
    }
  }
  const latest = useRef(report);
  useLayoutEffect(() => {
    latest.current = report;
  });

  useLayoutEffect(() => {
    const element = img.current;
    if (!element) return;
    // Finished before React listened: the load and error events are already gone.
    if (element.complete) {
      latest.current(element);
      return;
    }
    if (!priority) setState({ src, is: "waiting" });
    if (!hash) return;
    setTimeout(() => {
      // Without it the colour stays.
      void import("@/components/media/thumbhash").then(({ paintThumbhash }) => {
        if (!element.complete) paintThumbhash(element, hash);
      }, console.warn);
    }, 100);
  }, [src, priority, hash]);

  function loaded(element: HTMLImageElement) {
    // One whose source has changed meanwhile is on its way again, and will tell.
    const settle = () => img.current === element && element.complete && latest.current(element);
    // Not before it can be painted whole; one that failed to decode is shown as far as it goes.
    const decoded = is === "waiting" ? element.decode?.() : undefined;
    if (decoded) void decoded.then(settle, settle);
    else settle();
  }

  if (is === "missing") {
    return onMissing ? null : <MissingPicture label={alt} className={className} />;
  }
  const focus = fit === "cover" && info?.focus;
  const picture = (
    <img
      ref={img}
      srcSet={known && srcSetOf(src, known, bounds)}
      sizes={known && sizesText(sizes!)}
      src={wholeUrl(src)}
      alt={alt}
      width={width}
      height={height}
      decoding="async"
      loading={priority || eager ? "eager" : "lazy"}
      fetchPriority={priority ? "high" : undefined}
      onLoad={(event) => loaded(event.currentTarget)}
      onError={(event) => report(event.currentTarget)}
      className={cn(
        "ease-cal bg-size-[100%_100%] transition-opacity duration-240",
        fit === "cover" ? "object-cover" : "object-contain",
        is === "waiting" && (known ? "pending" : "opacity-0"),
        className,
      )}
      style={{
        ...style,
        backgroundColor: is === "shown" ? undefined : known?.color,
        objectPosition: focus ? `${focus[0] * 100}% ${focus[1] * 100}%` : undefined,
      }}
    />
  );
  if (!cut || !known) return picture;
  return (
    <picture className="contents">
      <source {...cut} />
      {picture}
    </picture>
  );
}
