import { useLayoutEffect, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import type { SeriesName } from "@/features/artworks/api/get-series";
import { GalleryBlock, ReservedRows } from "@/features/artworks/components/gallery-block";
import { ViewportObserver } from "@/features/artworks/hooks/use-near-viewport";
import { useScrollRestoration } from "@/features/artworks/hooks/use-scroll-restoration";
import { useWidth } from "@/features/artworks/hooks/use-width";
import { ARTWORKS_PER_PAGE, blocksOf, firstIndexOf, pageOf } from "@/features/artworks/paging";

type GalleryGridProps = {
  filter: GalleryFilter;
  /** The series (works that the owner shows together) that the grid shows; null for all works of the filter. */
  series: SeriesName | null;
  /** The number of works of the filter. */
  total: number;
  onOpen(product: Product): void;
  /** Called when a page of works reports a total other than `total`. */
  onChanged(): void;
  /** Called when the grid unmounts, for example because another filter was chosen. `hadFocus` says whether the grid had the focus. */
  onUnmount(hadFocus: boolean): void;
};

/**
 * The list of the works of a filter. The list is virtualized in blocks of rows: only blocks near the viewport load and render their
 * cards. The other blocks keep their height, so that nothing on the page moves.
 */
export function GalleryGrid({
  filter,
  series,
  total,
  onOpen,
  onChanged,
  onUnmount,
}: GalleryGridProps) {
  const t = useT();
  const list = useRef<HTMLDivElement>(null);
  const [viewportObserver] = useState(() => new ViewportObserver());
  const width = useWidth(list);
  useScrollRestoration(list);
  // A layout effect, because its cleanup runs before the elements are removed, so that the focus is still in the grid.
  useLayoutEffect(() => {
    const element = list.current;
    return () => onUnmount(!!element?.contains(document.activeElement));
  }, [onUnmount]);
  // The first render must equal the server's. The server renders one element for all blocks after the first page, because there can
  // be hundreds of blocks.
  const [mounted, setMounted] = useState(false);
  useLayoutEffect(() => setMounted(true), []);
  const blocks = Array.from({ length: blocksOf(total) }, (_, block) => block);
  const renderedBlocks = mounted ? blocks : blocks.filter((block) => pageOf(block) === 0);
  const needsSkipLink = total > ARTWORKS_PER_PAGE;
  // The block with the focus. Its neighbours are rendered too, because the page scrolls only after Tab has moved the
  // focus.
  const [focusedBlock, setFocusedBlock] = useState<number | null>(null);

  return (
    <>
      {needsSkipLink && (
        <a
          href="#gallery-end"
          className={cn(
            "btn btn-primary absolute top-0 left-0 z-10 not-focus-visible:sr-only",
            "focus-visible:-translate-y-1/2",
          )}
        >
          {t("gallery.skip")}
        </a>
      )}
      <div
        ref={list}
        role="list"
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) setFocusedBlock(null);
        }}
        className="flex flex-col gap-y-(--grid-gap)"
      >
        {renderedBlocks.map((block) => (
          <GalleryBlock
            key={block}
            filter={filter}
            series={series}
            block={block}
            total={total}
            width={width}
            viewportObserver={viewportObserver}
            nearFocus={focusedBlock !== null && Math.abs(block - focusedBlock) <= 1}
            onFocused={setFocusedBlock}
            onOpen={onOpen}
            onChanged={onChanged}
          />
        ))}
        {renderedBlocks.length < blocks.length && (
          <ReservedRows count={total - firstIndexOf(renderedBlocks.length)} />
        )}
      </div>
      {needsSkipLink && (
        <p id="gallery-end" tabIndex={-1} className="sr-only">
          {t("gallery.end")}
        </p>
      )}
    </>
  );
}
