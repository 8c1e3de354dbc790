import { memo, useEffect, useRef, type CSSProperties } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { useArtworksPage } from "@/features/artworks/api/get-artworks-page";
import type { SeriesName } from "@/features/artworks/api/get-series";
import { ArtworkCard } from "@/features/artworks/components/artwork-card";
import { CardSkeleton } from "@/features/artworks/components/card-skeleton";
import {
  useNearViewport,
  type ViewportObserver,
} from "@/features/artworks/hooks/use-near-viewport";
import { useRetryFocus } from "@/features/artworks/hooks/use-retry-focus";
import { galleryLayout } from "@/features/artworks/gallery-layout";
import { pageOf, sizeOf, firstIndexOf, worksOf } from "@/features/artworks/paging";

/** The props of a block: some rows of the gallery grid, which are rendered and removed together. */
type GalleryBlockProps = {
  filter: GalleryFilter;
  /** The series (works that the owner shows together) that the grid shows; null for all works of the filter. */
  series: SeriesName | null;
  /** Index of the block, from 0. */
  block: number;
  /** The number of works of the filter in all blocks. */
  total: number;
  /** The width of the grid in pixels. A measured height is valid only for this width. */
  width: number;
  viewportObserver: ViewportObserver;
  /** Whether the focus is in this block or in a neighbouring block. */
  nearFocus: boolean;
  onFocused(block: number): void;
  onOpen(product: Product): void;
  /** Called when the page of works that contains this block reports a total other than `total`. */
  onChanged(): void;
};

/** Classes of the columns and gaps of a block. */
export const gridClasses =
  "grid grid-cols-1 gap-y-(--grid-gap) [--card-gap:0px] sm:grid-cols-2 sm:[--card-gap:clamp(20px,2.6vw,44px)] lg:grid-cols-3 xl:grid-cols-4";
/** Classes that set --empty-cells to the number of empty cells in the last row at the current number of columns. */
const emptyCellsClasses =
  "sm:[--empty-cells:var(--empty-cells-2)] lg:[--empty-cells:var(--empty-cells-3)] xl:[--empty-cells:var(--empty-cells-4)]";
// Classes that reserve the height of a block's rows. A row consists of square boxes, captions and a gap. The height is set as
// padding-top, because a percentage of padding-top refers to the width of the parent, which is the width of the block.
const reservedHeight = cn(
  "[--cols:1] [--rows:var(--rows-1)] sm:[--cols:2] sm:[--rows:var(--rows-2)] lg:[--cols:3] lg:[--rows:var(--rows-3)] xl:[--cols:4] xl:[--rows:var(--rows-4)]",
  "pt-[calc(var(--rows)*(100%/var(--cols)+var(--caption))+(var(--rows)-1)*var(--grid-gap))]",
);

/** Style with the custom properties --empty-cells-N: the empty cells in the last row of `count` works in N columns. */
function emptyCellsStyle(count: number) {
  const empty = (columns: number) => (columns - (count % columns)) % columns;
  return {
    "--empty-cells-2": empty(2),
    "--empty-cells-3": empty(3),
    "--empty-cells-4": empty(4),
  } as CSSProperties;
}

/** Style with the custom properties --rows-N: the number of rows of `count` works in N columns. */
function rowsStyle(count: number) {
  const rows = (columns: number) => Math.ceil(count / columns);
  return {
    "--rows-1": rows(1),
    "--rows-2": rows(2),
    "--rows-3": rows(3),
    "--rows-4": rows(4),
  } as CSSProperties;
}

/** An empty element with the reserved height of the rows of `count` works. */
export function ReservedRows({ count }: { count: number }) {
  return <div className={reservedHeight} style={rowsStyle(count)} />;
}

/**
 * A block of works of the gallery grid. It renders its cards only while it is near the viewport or the focus; otherwise it
 * keeps only its height.
 */
export const GalleryBlock = memo(function GalleryBlock(props: GalleryBlockProps) {
  const { block, total, width, viewportObserver, nearFocus, onFocused } = props;
  const { ref, near: onScreen, lastSize, onBlur } = useNearViewport(viewportObserver, block === 0);
  const near = onScreen || nearFocus;
  const measured = lastSize?.width === width;
  return (
    <div
      ref={ref}
      data-block=""
      onFocus={() => onFocused(block)}
      onBlur={onBlur}
      className={near || measured ? undefined : reservedHeight}
      style={
        near ? undefined : measured ? { height: lastSize.height } : rowsStyle(sizeOf(block, total))
      }
    >
      {near ? (
        <Works {...props} />
      ) : (
        // For browsers without scripts, in which no block becomes near.
        <noscript>{import.meta.env.SSR && pageOf(block) === 0 && <Works {...props} />}</noscript>
      )}
    </div>
  );
});

function Works({ filter, series, block, total, onOpen, onChanged }: GalleryBlockProps) {
  const t = useT();
  const page = useArtworksPage(filter, pageOf(block), series);
  const size = sizeOf(block, total);
  const { content, focusEvents } = useRetryFocus(page.isPending);
  // Which work gets the focus when the works have loaded. It is set while their placeholder has the focus.
  const workToFocus = useRef<"first" | "last" | null>(null);
  const reportedTotal = page.isPlaceholderData ? undefined : page.data?.total;

  // Works were added or removed since the first page was fetched.
  useEffect(() => {
    if (reportedTotal !== undefined && reportedTotal !== total) onChanged();
  }, [reportedTotal, total, onChanged]);

  const loaded = page.data !== undefined;
  // Moves the focus from the placeholder, which is gone, to a work.
  useEffect(() => {
    if (!loaded || !workToFocus.current) return;
    const works = content.current?.querySelectorAll("a");
    works
      ?.item(workToFocus.current === "first" ? 0 : works.length - 1)
      ?.focus({ preventScroll: true });
    workToFocus.current = null;
  }, [loaded, content]);

  if (page.isError && !page.data) {
    return (
      <div ref={content} className="border-divider min-h-[40svh] border-b pt-8">
        <p className="text-lead mb-4">{t("gallery.error")}</p>
        <Button variant="outline" {...focusEvents} onClick={() => void page.refetch()}>
          {t("common.retry")}
        </Button>
      </div>
    );
  }
  if (!page.data) {
    return (
      // Focusable, so that Tab does not skip works that are still loading. Once they have loaded, the focus moves to one
      // of them.
      <div
        role="group"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- placeholder for links
        tabIndex={0}
        aria-label={t("gallery.loading")}
        aria-busy="true"
        onFocus={({ currentTarget, relatedTarget }) => {
          const fromBelow =
            relatedTarget instanceof Node &&
            currentTarget.compareDocumentPosition(relatedTarget) & Node.DOCUMENT_POSITION_FOLLOWING;
          workToFocus.current = fromBelow ? "last" : "first";
        }}
        onBlur={() => (workToFocus.current = null)}
        className={gridClasses}
      >
        {Array.from({ length: size }, (_, n) => (
          <CardSkeleton key={n} index={n} layout="grid" />
        ))}
      </div>
    );
  }
  return (
    <div ref={content} className={gridClasses}>
      {worksOf(block, page.data.rows).map((product, n) => {
        const position = firstIndexOf(block) + n + 1;
        const lastOfAll = position === total;
        return (
          <div
            key={product.id}
            role="listitem"
            aria-posinset={position}
            aria-setsize={total}
            className={lastOfAll ? emptyCellsClasses : undefined}
            style={lastOfAll ? emptyCellsStyle(total) : undefined}
          >
            <ArtworkCard
              product={product}
              onOpen={onOpen}
              layout={galleryLayout}
              eager={position <= 2}
            />
          </div>
        );
      })}
    </div>
  );
}
