import { memo, useEffect, useRef, type CSSProperties } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import type { GalleryFilter } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { useGalleryPart } from "@/features/artworks/api/get-gallery-part";
import { Hang } from "@/features/artworks/components/hang";
import { RailSkeleton } from "@/features/artworks/components/rail-skeleton";
import { useNear, type Nearness } from "@/features/artworks/hooks/use-near";
import { wall } from "@/features/artworks/wall-layout";
import { pageOf, sizeOf, startOf, worksOf } from "@/features/artworks/paging";

type WallBlockProps = {
  filter: GalleryFilter;
  block: number;
  total: number;
  /** Of the wall: a height that was measured at another width is worthless. */
  width: number;
  nearness: Nearness;
  /** It holds the focus, or the next Tab may lead here. */
  nearFocus: boolean;
  onFocused(block: number): void;
  onOpen(product: Product): void;
  /** Told when this part counts another number of works than the wall was built for. */
  onChanged(): void;
};

export const grid =
  "grid grid-cols-1 gap-y-(--wall-gap) [--hang-gap:0px] sm:grid-cols-2 sm:[--hang-gap:clamp(20px,2.6vw,44px)] lg:grid-cols-3 xl:grid-cols-4";
const rest = "sm:[--rest:var(--rest-2)] lg:[--rest:var(--rest-3)] xl:[--rest:var(--rest-4)]";
// What the rows will need: square boxes with a caption each, and the gaps between them. Padding, because
// its percentages refer to the width.
const standIn = cn(
  "[--cols:1] [--rows:var(--rows-1)] sm:[--cols:2] sm:[--rows:var(--rows-2)] lg:[--cols:3] lg:[--rows:var(--rows-3)] xl:[--cols:4] xl:[--rows:var(--rows-4)]",
  "pt-[calc(var(--rows)*(100%/var(--cols)+var(--caption))+(var(--rows)-1)*var(--wall-gap))]",
);

/** How many places stay empty in the last row, for each number of columns. */
function emptyPlaces(count: number) {
  const left = (columns: number) => (columns - (count % columns)) % columns;
  return { "--rest-2": left(2), "--rest-3": left(3), "--rest-4": left(4) } as CSSProperties;
}

function rowsOf(count: number) {
  const rows = (columns: number) => Math.ceil(count / columns);
  return { "--rows-1": rows(1), "--rows-2": rows(2), "--rows-3": rows(3), "--rows-4": rows(4) };
}

/** Some whole rows of the wall: works while they are near the screen or the focus, else only their height. */
export const WallBlock = memo(function WallBlock(props: WallBlockProps) {
  const { block, total, width, nearness, nearFocus, onFocused } = props;
  const { ref, near: onScreen, last, onBlur } = useNear(nearness, block === 0);
  const near = onScreen || nearFocus;
  const measured = last?.width === width;
  return (
    <div
      ref={ref}
      data-block=""
      onFocus={() => onFocused(block)}
      onBlur={onBlur}
      className={near || measured ? undefined : standIn}
      style={
        near
          ? undefined
          : measured
            ? { height: last.height }
            : (rowsOf(sizeOf(block, total)) as CSSProperties)
      }
    >
      {near ? (
        <Works {...props} />
      ) : (
        // Without scripts nothing is ever near; with them, this is text that nobody reads.
        <noscript>{import.meta.env.SSR && pageOf(block) === 0 && <Works {...props} />}</noscript>
      )}
    </div>
  );
});

function Works({ filter, block, total, onOpen, onChanged }: WallBlockProps) {
  const t = useT();
  const part = useGalleryPart(filter, pageOf(block));
  const size = sizeOf(block, total);
  const here = useRef<HTMLDivElement>(null);
  // Which of the works the focus was on its way to while they were loading.
  const wanted = useRef<"first" | "last" | null>(null);
  const counted = part.isPlaceholderData ? undefined : part.data?.total;

  useEffect(() => {
    if (counted !== undefined && counted !== total) onChanged();
  }, [counted, total, onChanged]);

  const arrived = part.data !== undefined;
  useEffect(() => {
    if (!arrived || !wanted.current) return;
    const works = here.current?.querySelectorAll("a");
    works?.item(wanted.current === "first" ? 0 : works.length - 1)?.focus({ preventScroll: true });
    wanted.current = null;
  }, [arrived]);

  if (part.isError && !part.data) {
    return (
      <div className="border-rail min-h-[40svh] border-b pt-8">
        <p className="text-lead mb-4">{t("gallery.error")}</p>
        <Button variant="outline" loading={part.isFetching} onClick={() => void part.refetch()}>
          {t("common.retry")}
        </Button>
      </div>
    );
  }
  if (!part.data) {
    return (
      // Takes the focus, so that the Tab key waits for the works instead of jumping over them.
      <div
        role="group"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- stands in for the links to come
        tabIndex={0}
        aria-label={t("gallery.loading")}
        aria-busy="true"
        onFocus={({ currentTarget, relatedTarget }) => {
          const fromBelow =
            relatedTarget instanceof Node &&
            currentTarget.compareDocumentPosition(relatedTarget) & Node.DOCUMENT_POSITION_FOLLOWING;
          wanted.current = fromBelow ? "last" : "first";
        }}
        onBlur={() => (wanted.current = null)}
        className={grid}
      >
        {Array.from({ length: size }, (_, n) => (
          <RailSkeleton key={n} index={n} layout="wall" />
        ))}
      </div>
    );
  }
  return (
    <div ref={here} className={grid}>
      {worksOf(block, part.data.works).map((product, n) => {
        const position = startOf(block) + n + 1;
        const lastOfAll = position === total;
        return (
          <div
            key={product.id}
            role="listitem"
            aria-posinset={position}
            aria-setsize={total}
            className={lastOfAll ? rest : undefined}
            style={lastOfAll ? emptyPlaces(total) : undefined}
          >
            <Hang product={product} onOpen={onOpen} layout={wall} eager={position <= 2} />
          </div>
        );
      })}
    </div>
  );
}
