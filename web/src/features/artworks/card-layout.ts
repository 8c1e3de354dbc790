import type { Bounds, Sizes } from "@/lib/media";

/** CSS classes of the parts of an artwork card. */
type Classes = {
  /** The box around the picture. */
  box: string;
  /** A picture without metadata, whose size is not known before it loads. */
  work: string;
  /** The placeholder of a missing picture. */
  missing: string;
};

/** How artwork cards are laid out: as in the gallery, or as in the featured strip. */
export type CardLayout = Classes & {
  /** Classes of a picture with metadata, whose size is known before it loads. */
  known: string;
  /** Classes with which a card keeps its reserved height after a picture without metadata has loaded, so that nothing below moves. */
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
 * Returns the function `sizes` of a card layout in columns. `counts` has the number of columns for each media query. `boxHeight`
 * returns the height of a card's box for n columns. A work is as wide as its card, or narrower if its full height would not fit
 * into the box.
 */
export function cardSizes(queries: string[], counts: number[], boxHeight: (n: number) => string) {
  return (ratio: number): Sizes =>
    counts.map((count, n) => [
      queries[n]!,
      `min(${contentWidth}/${count} - clamp(20px,2.6vw,44px),${boxHeight(count)}*${ratio})`,
    ]);
}

/** The cards of the featured strip: boxes of one height, --strip-height (styles/base.css). */
export const stripLayout: CardLayout = {
  box: "h-(--strip-height)",
  work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
  known: "absolute bottom-0 left-0 h-auto w-[min(100%,var(--strip-height)*var(--ratio),var(--px))]",
  missing: "absolute bottom-0 left-0 w-[62%]",
  sizes: cardSizes(
    ["(min-width:80rem)", "(min-width:64rem)", "(min-width:48rem)", ""],
    [4, 3, 2, 4 / 3], // on phones a card takes three quarters of the width
    () => "clamp(280px,26vw,400px)",
  ),
  // The boxes are 280 to 400 px high; screens have up to two device pixels per CSS pixel.
  bounds: (ratio) => [Math.min(256, 200 * ratio), 800 * ratio],
};
