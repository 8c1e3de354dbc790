import type { Sizes } from "@/lib/media";

// The layouts' own arithmetic in CSS: the widths must be right to a few per cent, or files are too large.
const column = "min(1520px,100vw - 2*clamp(20px,4.6vw,72px))";
const gap = "clamp(20px,2.6vw,44px)";

const columns = {
  strip: [
    ["(min-width:80rem)", 4],
    ["(min-width:64rem)", 3],
    ["(min-width:48rem)", 2],
    ["", 4 / 3],
  ],
  wall: [
    ["(min-width:80rem)", 4],
    ["(min-width:64rem)", 3],
    ["(min-width:40rem)", 2],
    ["", 1],
  ],
} as const;

/** How wide a work of this shape hangs: as broad as its card, unless its height is the limit. */
export function workSizes(layout: "strip" | "wall", ratio: number): Sizes {
  return columns[layout].map(([query, count]) => {
    if (count === 1) return [query, `min(${column},74svh*${ratio})`];
    const height = layout === "strip" ? "clamp(280px,26vw,400px)" : `${column}/${count}`;
    return [query, `min(${column}/${count} - ${gap},${height}*${ratio})`];
  });
}
