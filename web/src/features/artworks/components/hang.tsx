import { useState, type CSSProperties } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import { Picture } from "@/components/media/picture";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import type { ArtworkType, Product } from "@/lib/types";
import { artworkCaption, artworkTitle } from "@/features/artworks/artwork-label";

type Size = { width: number; height: number };

/** Shapes to reserve until the file tells its own (in one column, where the height is natural). */
const usualSizes: Partial<Record<ArtworkType, Size>> = {
  mural: { width: 1600, height: 800 },
  watercolour: { width: 1280, height: 1600 },
};
const square: Size = { width: 1600, height: 1600 };

type HangProps = {
  product: Product;
  onOpen(product: Product): void;
  /** "strip": the height is given. "wall": a square from sm on, natural height in one column. */
  layout: "strip" | "wall";
  eager?: boolean;
  sizes: string;
};

const boxes = {
  strip: {
    box: "h-(--strip-height)",
    work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
    missing: "absolute bottom-0 left-0",
  },
  wall: {
    box: "sm:h-[100cqw]",
    work: cn(
      "block h-auto max-sm:w-[min(100%,74svh*var(--ratio))]",
      "sm:absolute sm:bottom-0 sm:left-0 sm:max-h-full sm:w-auto sm:max-w-full",
    ),
    missing: "sm:absolute sm:bottom-0 sm:left-0",
  },
};

/**
 * A work standing on the rail: whole, in its own proportions, bottom left in its box. The space
 * between works lies inside the card, so that the rails of neighbours join.
 */
export function Hang({ product, onOpen, layout, eager, sizes }: HangProps) {
  const t = useT();
  const url = product.image_url;
  const [measured, setMeasured] = useState<{ url: string; size: Size } | null>(null);
  const [missing, setMissing] = useState<string | null>(null);
  const reserved = usualSizes[product.artwork_type] ?? square;
  const size = measured?.url === url ? measured.size : reserved;
  const title = artworkTitle(product, t);
  const classes = boxes[layout];

  return (
    <div className="@container">
      <button
        type="button"
        onClick={() => onOpen(product)}
        className="group block w-[calc(100%-var(--hang-gap))] text-left focus-visible:outline-offset-8"
      >
        <span
          className={cn("relative block", classes.box)}
          style={{ "--ratio": size.width / size.height } as CSSProperties}
        >
          {url && missing !== url ? (
            <Picture
              src={url}
              alt=""
              width={size.width}
              height={size.height}
              sizes={sizes}
              eager={eager}
              onMissing={() => setMissing(url)}
              onSize={(width, height) => setMeasured({ url, size: { width, height } })}
              className={cn("shadow-work", classes.work)}
            />
          ) : (
            <MissingPicture
              label={t("gallery.noImage")}
              className={cn("aspect-4/5 w-[62%]", classes.missing)}
            />
          )}
          <span
            aria-hidden="true"
            // The last rail runs on over the empty places of its row (--rest, set by the wall).
            className="bg-rail absolute top-full right-[calc(-1*var(--hang-gap))] left-0 h-px in-[li:last-child]:right-[calc(-1*var(--hang-gap)-var(--rest,0)*100cqw)]"
          />
        </span>
        <span className="sr-only">{t("gallery.open", { title })}</span>
        <span
          aria-hidden="true"
          className="decoration-anil mt-[18px] block text-work italic decoration-2 underline-offset-[0.22em] group-hover:underline"
        >
          {title}
        </span>
        <span className="text-ink2 mt-0.5 block text-sm">{artworkCaption(product, t)}</span>
      </button>
    </div>
  );
}
