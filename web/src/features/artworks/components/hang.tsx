import { memo, useEffect, useRef, useState } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import { Picture } from "@/components/media/picture";
import { cn } from "@/lib/cn";
import { useAddress, useT } from "@/lib/i18n";
import { imageInfo, ratioOf, shapeOf } from "@/lib/media";
import type { ArtworkType, Product } from "@/lib/types";
import { artworkCaption, artworkTitle } from "@/features/artworks/artwork-label";
import type { HangLayout } from "@/features/artworks/hang-layout";

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
  layout: HangLayout;
  eager?: boolean;
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
  const address = useAddress(`/gallery/all?art=${product.id}`);
  const box = useRef<HTMLSpanElement>(null);
  const painted = useRef(false);
  useEffect(() => {
    painted.current = true;
  }, []);
  const [held, setHeld] = useState<string | null>(null);
  const holds = !info && layout.held && url !== null && (measured?.url !== url || held === url);
  const classes = (holds && layout.held) || layout;
  const ratio = holds ? reserved : size;

  /** Well below the screen nothing moves that a visitor sees; half a screen, because a scroll may be under way. */
  function holdShape() {
    const top = box.current?.getBoundingClientRect().top ?? 0;
    if (painted.current && top < innerHeight * 1.5) setHeld(url);
  }

  return (
    <div className="@container">
      {/* An address of its own for new tabs, and for browsers without scripts. */}
      <a
        href={address}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          onOpen(product);
        }}
        className="group block w-[calc(100%-var(--hang-gap))] text-left focus-visible:outline-offset-8"
      >
        <span ref={box} className={cn("relative block", classes.box)} style={shapeOf(ratio)}>
          {url && missing !== url ? (
            <Picture
              src={url}
              alt=""
              width={size.width}
              height={size.height}
              info={info}
              sizes={layout.sizes(Math.round(ratioOf(ratio) * 1000) / 1000)}
              bounds={layout.bounds?.(ratioOf(ratio))}
              eager={eager}
              onMissing={() => setMissing(url)}
              onSize={(width, height) => {
                if (info) return;
                const found = { url, size: { width, height } };
                told.set(product, found);
                if (measured === null) holdShape();
                setMeasured(found);
              }}
              className={cn("shadow-work", info ? layout.known : classes.work)}
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
      </a>
    </div>
  );
});
