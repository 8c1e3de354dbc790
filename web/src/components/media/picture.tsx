import { useLayoutEffect, useRef, useState } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import { cn } from "@/lib/cn";

type PictureProps = {
  src: string;
  alt: string;
  /** Natural size in pixels; reserves the space before the file is there. */
  width?: number;
  height?: number;
  sizes?: string;
  fit?: "contain" | "cover";
  /** The one picture that the page waits for: loaded first and shown without fading. */
  priority?: boolean;
  /** Loaded at once, but not before anything else. */
  eager?: boolean;
  className?: string;
  /** Told when the file cannot be shown; without it a placeholder takes the place. */
  onMissing?(): void;
  onSize?(width: number, height: number): void;
};

/**
 * The one picture component. It is visible in the first render, so that HTML from the server shows it
 * without script; only a file still on its way after mount is hidden and faded in.
 */
export function Picture({
  src,
  alt,
  width,
  height,
  sizes,
  fit = "contain",
  priority = false,
  eager = false,
  className,
  onMissing,
  onSize,
}: PictureProps) {
  const img = useRef<HTMLImageElement>(null);
  const [state, setState] = useState<{ src: string; is: "shown" | "waiting" | "missing" }>({
    src,
    is: "shown",
  });
  const is = state.src === src ? state.is : "shown";

  function report(element: HTMLImageElement) {
    if (element.naturalWidth > 0) {
      setState({ src, is: "shown" });
      onSize?.(element.naturalWidth, element.naturalHeight);
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
    if (element.complete) latest.current(element);
    else if (!priority) setState({ src, is: "waiting" });
  }, [src, priority]);

  if (is === "missing") {
    return onMissing ? null : <MissingPicture label={alt} className={className} />;
  }
  return (
    <img
      ref={img}
      src={src}
      alt={alt}
      width={width}
      height={height}
      sizes={sizes}
      decoding="async"
      loading={priority || eager ? "eager" : "lazy"}
      fetchPriority={priority ? "high" : undefined}
      onLoad={(event) => report(event.currentTarget)}
      onError={(event) => report(event.currentTarget)}
      className={cn(
        "ease-cal transition-opacity duration-240",
        fit === "cover" ? "object-cover" : "object-contain",
        is === "waiting" && "opacity-0",
        className,
      )}
    />
  );
}
