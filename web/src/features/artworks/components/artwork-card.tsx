import { memo, useEffect, useRef, useState } from "react";
import { MissingPicture } from "@/components/media/missing-picture";
import { Picture } from "@/components/media/picture";
import { useBoot } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { useLanguage, useLocalizedUrl } from "@/lib/i18n";
import { imageInfo, ratioOf, ratioStyle } from "@/lib/media";
import type { ArtworkType, Product } from "@/lib/types";
import { artworkAlt, artworkCaption, artworkTitle } from "@/features/artworks/artwork-label";
import type { CardLayout } from "@/features/artworks/card-layout";

type Size = { width: number; height: number };

/** The size in pixels that a file without metadata reserves until it has loaded, by type of work. Other types reserve `square`. */
const reservedSizes: Partial<Record<ArtworkType, Size>> = {
  mural: { width: 1600, height: 800 },
  watercolour: { width: 1280, height: 1600 },
};
const square: Size = { width: 1600, height: 1600 };

// The sizes of loaded files without metadata. With them a card that mounts again reserves the right size immediately.
const loadedSizes = new WeakMap<Product, { url: string; size: Size }>();

type ArtworkCardProps = {
  product: Product;
  onOpen(product: Product): void;
  layout: CardLayout;
  /** Whether to load the picture immediately instead of when it comes near the viewport. */
  eager?: boolean;
};

/**
 * One work in the gallery or the featured strip: the uncropped picture at the bottom of its box, a line below the box, and
 * the title and caption. The gap between cards is part of the card, so that the lines of neighbours join.
 */
export const ArtworkCard = memo(function ArtworkCard({
  product,
  onOpen,
  layout,
  eager,
}: ArtworkCardProps) {
  const pageLanguage = useLanguage();
  const { language, t } = pageLanguage;
  const url = product.image_url;
  // The size of a loaded file without metadata; null until the file has loaded.
  const [measured, setMeasured] = useState(() => loadedSizes.get(product) ?? null);
  const [missingUrl, setMissingUrl] = useState<string | null>(null);
  const reserved = reservedSizes[product.artwork_type] ?? square;
  const info = imageInfo(product, url);
  const size = info ?? (measured?.url === url ? measured.size : reserved);
  const title = artworkTitle(product, pageLanguage);
  const caption = artworkCaption(product, pageLanguage);
  const alt = artworkAlt(product, url, language);
  const inGallery = useBoot().site.gallery.types.includes(product.artwork_type);
  const href = useLocalizedUrl(`${inGallery ? "/gallery/all" : "/"}?art=${product.id}`);
  const boxRef = useRef<HTMLSpanElement>(null);
  // Whether the first render was painted. Effects run after that.
  const wasPainted = useRef(false);
  useEffect(() => {
    wasPainted.current = true;
  }, []);
  // The URL of the picture for which the card keeps its reserved height.
  const [pinnedUrl, setPinnedUrl] = useState<string | null>(null);
  // Whether the card has its reserved height: until the file has loaded, and afterwards if the height is pinned.
  const keepsHeight =
    !info && layout.reserved && url !== null && (measured?.url !== url || pinnedUrl === url);
  const classes = (keepsHeight && layout.reserved) || layout;
  const shape = keepsHeight ? reserved : size;

  /**
   * Keeps the reserved height if the card was painted on the screen or less than half a screen below it, where the visitor
   * would see a change.
   */
  function pinHeight() {
    const top = boxRef.current?.getBoundingClientRect().top ?? 0;
    if (wasPainted.current && top < innerHeight * 1.5) setPinnedUrl(url);
  }

  return (
    <div className="@container">
      {/* A link instead of a button, for new tabs and for browsers without scripts. */}
      <a
        href={href}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          onOpen(product);
        }}
        className="group block w-[calc(100%-var(--card-gap))] text-left focus-visible:outline-offset-8"
      >
        <span ref={boxRef} className={cn("relative block", classes.box)} style={ratioStyle(shape)}>
          {url && missingUrl !== url ? (
            <Picture
              src={url}
              alt={alt.text}
              lang={alt.lang}
              width={size.width}
              height={size.height}
              info={info}
              sizes={layout.sizes(ratioOf(shape))}
              bounds={layout.bounds?.(ratioOf(shape))}
              eager={eager}
              onMissing={() => setMissingUrl(url)}
              onSize={(width, height) => {
                if (info) return;
                const found = { url, size: { width, height } };
                loadedSizes.set(product, found);
                if (measured === null) pinHeight();
                setMeasured(found);
              }}
              className={cn("work-shadow", info ? layout.known : classes.work)}
            />
          ) : (
            <MissingPicture
              label={t("gallery.noImage")}
              className={cn("aspect-4/5", classes.missing)}
            />
          )}
          <span
            aria-hidden="true"
            // The last line continues over the empty cells of its row (--empty-cells, set by GalleryBlock).
            className="bg-divider absolute top-full right-[calc(-1*var(--card-gap)-var(--empty-cells,0)*100cqw)] left-0 h-px"
          />
        </span>
        <span className="sr-only">{t("gallery.open", { title: title.text })}</span>
        <span
          aria-hidden="true"
          lang={title.lang}
          className="decoration-indigo mt-[18px] block text-work italic decoration-2 underline-offset-[0.22em] group-hover:underline"
        >
          {title.text}
        </span>
        <span lang={caption.lang} className="text-ink2 mt-[3px] block text-sm">
          {caption.text}
        </span>
      </a>
    </div>
  );
});
