import { useLayoutEffect, useRef, useState, type CSSProperties } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import type { Language } from "@/lib/boot";
import { cn } from "@/lib/cn";
import {
  sizesText,
  srcSetFor,
  displayUrl,
  type Bounds,
  type Crop,
  type ImageInfo,
  type Sizes,
} from "@/lib/media";
import { urgentPictures } from "@/lib/head-links";
import { whenVisitorMoves } from "@/lib/visitor-moves";

type PictureProps = {
  src: string;
  alt: string;
  /** The language of `alt`, if it is not the language of the page. */
  lang?: Language;
  /**
   * Metadata of the file. A picture without metadata has no renditions (versions in other sizes and formats), so its stored file
   * is shown.
   */
  info?: ImageInfo;
  /** The size of the file in pixels. It reserves the space before the file has loaded. */
  width?: number;
  height?: number;
  /** The widths at which the picture is displayed, by media query. Without `sizes` the stored file is shown. */
  sizes?: Sizes;
  /** A cropped picture for screens of another shape. Without `crop` all screens get the whole picture. */
  crop?: Crop | null;
  /** The smallest and largest width of the renditions to offer, in pixels. */
  bounds?: Bounds;
  /** How the picture fits into its box, as CSS object-fit. */
  fit?: "contain" | "cover";
  /** Marks the largest picture of the first screen. It is loaded first and shown without fading. */
  priority?: boolean;
  /** Loads the picture immediately instead of near the viewport, at normal priority. */
  eager?: boolean;
  className?: string;
  style?: CSSProperties;
  /** Called when the file cannot be shown. With this function the component then renders nothing, else a placeholder. */
  onMissing?(): void;
  /** Called with the natural size in pixels once the file has loaded. */
  onSize?(width: number, height: number): void;
};

/** The loading state of the picture at `src`. */
type State = {
  src: string;
  /** True after a rendition has failed. The stored file is then loaded instead. */
  storedFile?: boolean;
  /**
   * - "new": in the first render, or with `priority` until the file has loaded. The picture is visible.
   * - "waiting": the file loads behind the placeholder.
   * - "shown": the file has loaded.
   * - "missing": the file cannot be shown.
   */
  phase: "new" | "waiting" | "shown" | "missing";
};

/**
 * A picture of the site in the rendition that fits its displayed size. The first render shows the picture immediately, so that the
 * server's HTML works without scripts. If the file is still loading after mount, the component shows the picture's dominant colour,
 * then its thumbhash (a blurred preview), then the decoded picture. A picture without metadata is transparent until it is decoded,
 * and fades in.
 */
export function Picture({
  src,
  alt,
  lang,
  info,
  width = info?.width,
  height = info?.height,
  sizes,
  crop,
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
  const [state, setState] = useState<State>({ src, phase: "new" });
  const { phase, storedFile }: State = state.src === src ? state : { src, phase: "new" };
  // The metadata if a rendition is shown; undefined if the stored file is.
  const renditionInfo = sizes && !storedFile ? info : undefined;
  // Does not depend on `storedFile`: falling back to the stored file must not run the effect again.
  const hash = sizes && info?.thumbhash;

  function updatePhase(element: HTMLImageElement) {
    if (element.naturalWidth > 0) {
      // A transparent picture must not show the placeholder behind it.
      element.style.backgroundImage = "";
      setState({ src, storedFile, phase: "shown" });
      onSize?.(element.naturalWidth, element.naturalHeight);
    } else if (renditionInfo) {
      setState({ src, storedFile: true, phase: "waiting" });
    } else {
      setState({ src, phase: "missing" });
      onMissing?.();
    }
  }
  // The effect below calls the latest function without running again for each new one.
  const latest = useRef(updatePhase);
  useLayoutEffect(() => {
    latest.current = updatePhase;
  });

  // Before the first paint: shows the placeholder of a picture that is still loading.
  useLayoutEffect(() => {
    const element = img.current;
    if (!element) return;
    // The picture loaded before React attached its listeners, so no load event follows.
    if (element.complete) {
      latest.current(element);
      return;
    }
    if (!priority) setState({ src, phase: "waiting" });
    if (!hash) return;
    setTimeout(() => {
      // Pictures below a hero have no box until the visitor moves (styles/base.css).
      const box = element.offsetParent ?? whenVisitorMoves();
      // If the code of thumbhashes cannot load, the colour stays visible.
      void Promise.resolve<unknown>(box)
        .then(() => import("@/components/media/thumbhash"))
        .then(({ paintThumbhash }) => {
          if (!element.complete) paintThumbhash(element, hash);
        }, console.warn);
    }, 100);
  }, [src, priority, hash]);

  function showWhenDecoded(element: HTMLImageElement) {
    // Ignores the event of an earlier source, because the current source has its own load event.
    const settle = () => img.current === element && element.complete && latest.current(element);
    // Shown after decoding, so that it is painted immediately. Also shown if decoding fails, as far as it is readable.
    const decoded = phase === "waiting" ? element.decode?.() : undefined;
    if (decoded) void decoded.then(settle, settle);
    else settle();
  }

  if (phase === "missing") {
    return onMissing ? null : <MissingPicture label={alt} className={className} />;
  }
  const focus = fit === "cover" && info?.focus;
  const wide = renditionInfo && {
    srcSet: srcSetFor(src, renditionInfo, bounds),
    sizes: sizesText(sizes!),
  };
  const picture = (
    <img
      ref={img}
      {...wide}
      src={displayUrl(src)}
      alt={alt}
      lang={lang}
      width={width}
      height={height}
      decoding="async"
      loading={priority || eager ? "eager" : "lazy"}
      fetchPriority={priority ? "high" : undefined}
      onLoad={(event) => showWhenDecoded(event.currentTarget)}
      onError={(event) => updatePhase(event.currentTarget)}
      className={cn(
        "ease-soft bg-size-[100%_100%] transition-opacity duration-240",
        fit === "cover" ? "object-cover" : "object-contain",
        phase === "waiting" && (renditionInfo ? "pending" : "opacity-0"),
        className,
      )}
      style={{
        ...style,
        // The server computes the colour shortly after the upload; until then the neutral colour is shown.
        backgroundColor:
          phase === "shown"
            ? undefined
            : renditionInfo && (renditionInfo.color ?? "var(--neutral)"),
        objectPosition: focus ? `${focus[0] * 100}% ${focus[1] * 100}%` : undefined,
      }}
    />
  );
  if (!crop || !renditionInfo) return picture;
  if (import.meta.env.SSR && priority) {
    urgentPictures.push({ media: crop.media, narrow: crop, wide });
  }
  return (
    <picture className="contents">
      <source {...crop} />
      {picture}
    </picture>
  );
}
