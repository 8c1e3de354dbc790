import type { Bounds, Sizes } from "@/lib/media";

/**
 * CSS classes of the parts of a card: the box around the picture, the picture if its size is not known before it loads (`work`),
 * and the placeholder of a missing picture.
 */
type Classes = { box: string; work: string; missing: string };

/** How artwork cards are laid out: as in the gallery, or as in the featured strip. */
export type CardLayout = Classes & {
  /** Classes of a picture with metadata, whose size is known before it loads. */
  known: string;
  /** Classes that keep the reserved height after a picture without metadata has loaded, so that nothing below moves. */
  reserved?: Classes;
  /** The widths at which a work of this aspect ratio (width by height) is displayed. */
  sizes(ratio: number): Sizes;
  /** The smallest and largest width of the renditions (resized pictures) that the browser may choose from, for this ratio. */
  bounds?(ratio: number): Bounds;
};

// The width of the page's content as a CSS length, as in styles/base.css. The browser chooses files by these lengths, so
// an error of more than a few per cent downloads files that are too large.
export const contentWidth = "min(1520px,100vw - 2*clamp(20px,4.6vw,72px))";

/**
 * Returns the function `sizes` of a card layout in columns. `counts` has the number of columns for each media query.
 * `boxHeight` returns the height of a card's box for n columns. A work is as wide as its card, or narrower if the height of
 * the box limits it.
 */
export function cardSizes(queries: string[], counts: number[], boxHeight: (n: number) => string) {
  return (ratio: number): Sizes =>
    counts.map((count, n) => [
      queries[n]!,
      `min(${contentWidth}/${count} - clamp(20px,2.6vw,44px),${boxHeight(count)}*${ratio})`,
    ]);
}

/** The cards of the featured strip: boxes of one height, --strip-height. */
export const stripLayout: CardLayout = {
  box: "h-(--strip-height)",
  work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
  known: "absolute bottom-0 left-0 h-auto w-[min(100%,var(--strip-height)*var(--ratio),var(--px))]",
  missing: "absolute bottom-0 left-0 w-[62%]",
  sizes: cardSizes(
    ["(min-width:80rem)", "(min-width:64rem)", "(min-width:48rem)", ""],
    [4, 3, 2, 4 / 3],
    () => "clamp(280px,26vw,400px)",
  ),
  // The boxes are 280 to 400 px high; screens have up to two device pixels per CSS pixel.
  bounds: (ratio) => [Math.min(256, 200 * ratio), 800 * ratio],
};
