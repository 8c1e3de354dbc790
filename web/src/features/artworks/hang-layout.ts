import type { Bounds, Sizes } from "@/lib/media";

type Classes = { box: string; work: string; missing: string };

/** How works hang: classes of the box, of a work whose shape is known or told by its file, of what is missing. */
export type HangLayout = Classes & {
  known: string;
  /** While a file has not told its shape, or told it in plain sight, the reserved height stays, so that nothing jumps. */
  held?: Classes;
  /** How wide a work of this shape hangs. */
  sizes(ratio: number): Sizes;
  bounds?(ratio: number): Bounds;
};

// The layouts' own arithmetic in CSS: the widths must be right to a few per cent, or files are too large.
export const column = "min(1520px,100vw - 2*clamp(20px,4.6vw,72px))";

/** As broad as its card, unless the height of the box is the limit. */
export function hangSizes(queries: string[], counts: number[], boxHeight: (n: number) => string) {
  return (ratio: number): Sizes =>
    counts.map((count, n) => [
      queries[n]!,
      `min(${column}/${count} - clamp(20px,2.6vw,44px),${boxHeight(count)}*${ratio})`,
    ]);
}

/** On one rail: the height is given (--strip-height), the cards are 3/4 of a phone's column. */
export const strip: HangLayout = {
  box: "h-(--strip-height)",
  work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
  known: "absolute bottom-0 left-0 h-auto w-[min(100%,var(--strip-height)*var(--ratio),var(--px))]",
  missing: "absolute bottom-0 left-0 w-[62%]",
  sizes: hangSizes(
    ["(min-width:80rem)", "(min-width:64rem)", "(min-width:48rem)", ""],
    [4, 3, 2, 4 / 3],
    () => "clamp(280px,26vw,400px)",
  ),
  // 280 to 400 px high, on screens of up to two device pixels.
  bounds: (ratio) => [Math.min(256, 200 * ratio), 800 * ratio],
};
