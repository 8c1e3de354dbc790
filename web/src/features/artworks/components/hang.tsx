import { memo, useEffect, useRef, useState } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import { Picture } from "@/components/media/picture";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import { imageInfo, shapeOf } from "@/lib/media";
import type { ArtworkType, Product } from "@/lib/types";
import { artworkCaption, artworkTitle } from "@/features/artworks/artwork-label";
import { workSizes } from "@/features/artworks/work-sizes";

type Size = { width: number; height: number };

/** Shapes to reserve until the file tells its own (in one column, where the height is natural). */
const usualSizes: Partial<Record<ArtworkType, Size>> = {
  mural: { width: 1600, height: 800 },
  watercolour: { width: 1280, height: 1600 },
};
const square: Size = { width: 1600, height: 1600 };

// What the files told, for as long as their rows live: a work that is drawn anew must not jump again.
const told = new WeakMap<Product, { url: string; size: Size }>();

type HangProps = {
  product: Product;
  onOpen(product: Product): void;
  /** "strip": the height is given. "wall": a square from sm on, natural height in one column. */
  layout: "strip" | "wall";
  eager?: boolean;
};

const boxes = {
  strip: {
    box: "h-(--strip-height)",
    work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
    known: "absolute bottom-0 left-0 h-auto w-[min(100%,var(--strip-height)*var(--ratio),var(--px))]",
    missing: "absolute bottom-0 left-0 w-[62%]",
  },
  wall: {
    box: "sm:h-[100cqw]",
    work: cn(
      "block h-auto max-sm:w-[min(100%,74svh*var(--ratio))]",
      "sm:absolute sm:bottom-0 sm:left-0 sm:max-h-full sm:w-auto sm:max-w-full",
    ),
    known: cn(
      "block h-auto max-sm:w-[min(100%,74svh*var(--ratio))]",
      "sm:absolute sm:bottom-0 sm:left-0 sm:w-[min(100%,100cqw*var(--ratio),var(--px))]",
    ),
    missing: "w-[62%] sm:absolute sm:bottom-0 sm:left-0",
  },
  // One column, and the file has not told its shape, or told it in plain sight: the reserved height stays, so
  // that nothing jumps.
  held: {
    box: "max-sm:h-[min(100cqw/var(--ratio),74svh)] sm:h-[100cqw]",
    work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
    missing: "absolute bottom-0 left-0 max-sm:w-[min(62%,80cqw/var(--ratio),59svh)] sm:w-[62%]",
  },
};

/**
 * A work standing on the rail: whole, in its own proportions, bottom left in its box. The space
 * between works lies inside the card, so that the rails of neighbours join.
 */
export const Hang = memo(function Hang({ product, onOpen, layout, eager }: HangProps) {
  const t = useT();
  const url = product.image_url;
  const [measured, setMeasured] = useState(() => told.get(product) ?? null);
  const [missing, setMissing] = useState<string | null>(null);
  const reserved = usualSizes[product.artwork_type] ?? square;
  const info = imageInfo(product, url);
  const size = info ?? (measured?.url === url ? measured.size : reserved);
  const title = artworkTitle(product, t);
  const box = useRef<HTMLSpanElement>(null);
  const painted = useRef(false);
  useEffect(() => {
    painted.current = true;
  }, []);
  const [held, setHeld] = useState<string | null>(null);
  const holds =
    !info && layout === "wall" && url !== null && (measured?.url !== url || held === url);
  const classes = boxes[holds ? "held" : layout];
  const ratio = holds ? reserved : size;

  /** Well below the screen nothing moves that a visitor sees; half a screen, because a scroll may be under way. */
  function holdShape() {
    const top = box.current?.getBoundingClientRect().top ?? 0;
    if (painted.current && top < innerHeight * 1.5) setHeld(url);
  }

  return (
    <div className="@container">
      <button
        type="button"
        onClick={() => onOpen(product)}
        className="group block w-[calc(100%-var(--hang-gap))] text-left focus-visible:outline-offset-8"
      >
        <span
          ref={box}
          className={cn("relative block", classes.box)}
          style={shapeOf(ratio)}
        >
          {url && missing !== url ? (
            <Picture
              src={url}
              alt=""
              width={size.width}
              height={size.height}
              info={info}
              sizes={info && workSizes(layout, ratio.width / ratio.height)}
              eager={eager}
              onMissing={() => setMissing(url)}
              onSize={(width, height) => {
                if (info) return;
                const found = { url, size: { width, height } };
                told.set(product, found);
                if (measured === null) holdShape();
                setMeasured(found);
              }}
              className={cn("shadow-work", info ? boxes[layout].known : classes.work)}
            />
          ) : (
            <MissingPicture
              label={t("gallery.noImage")}
              className={cn("aspect-4/5", classes.missing)}
            />
          )}
          <span
            aria-hidden="true"
            // The last rail runs on over the empty places of its row (--rest, set by the wall).
            className="bg-rail absolute top-full right-[calc(-1*var(--hang-gap)-var(--rest,0)*100cqw)] left-0 h-px"
          />
        </span>
        <span className="sr-only">{t("gallery.open", { title })}</span>
        <span
          aria-hidden="true"
          className="decoration-anil mt-[18px] block text-work italic decoration-2 underline-offset-[0.22em] group-hover:underline"
        >
          {title}
        </span>
        <span className="text-ink2 mt-[3px] block text-sm">{artworkCaption(product, t)}</span>
      </button>
    </div>
  );
});
