import type { CSSProperties } from "react";

/** What is known of a picture before it is there. Sizes are pixels of the work as it is shown. */
export type ImageInfo = {
  kind: "image";
  /** Names the content, so that addresses with it can be kept for ever. */
  v: string;
  width: number;
  height: number;
  thumbhash?: string;
  /** Its dominant colour, #rrggbb. */
  color?: string;
  /** Widths at which it can be had. */
  widths: number[];
  /** The full size can be had in tiles of 1024 pixels. */
  tiles?: boolean;
  /** The point that must stay in sight, in parts of width and height. */
  focus?: [x: number, y: number];
  /** For the owner only. */
  details?: MediaDetails;
};

export type FilmInfo = {
  kind: "video";
  width: number;
  height: number;
  /** Seconds. */
  duration?: number;
  codec?: string;
  /** Its still, and what is known of that: both or neither. */
  poster?: string;
  still?: ImageInfo;
  details?: MediaDetails;
};

/** How renditions came about; sizes in bytes, those of the ladder by width. */
export type MediaDetails = {
  state: "waiting" | "ready" | "failed";
  /** A code. */
  reason?: string;
  original: number;
  public: number;
  ladder?: Record<string, number>;
  delta_e?: number;
  profile?: string;
  wide?: boolean;
};

/** By the address that stands in the row. */
export type MediaInfo = Record<string, ImageInfo | FilmInfo>;

type Row = { media?: MediaInfo };

/** What is known of the file of a row, when it is of the kind that its place in the row says. */
const infoOf =
  <Info extends ImageInfo | FilmInfo>(kind: Info["kind"]) =>
  (row: Row, url: string | null): Info | undefined => {
    const info = row.media?.[url ?? ""];
    return info?.kind === kind ? (info as Info) : undefined;
  };
export const imageInfo = infoOf<ImageInfo>("image");
export const filmInfo = infoOf<FilmInfo>("video");

/** The address of a smaller picture. A space would end it within a srcset. */
export function renditionUrl(url: string, query: string): string {
  const path = url.replace("/object/public/", "/render/image/public/").replace(/\?.*/, "");
  return `${path.replaceAll(" ", "%20")}?${query}`;
}

/** A file as it was stored, or a rendition of those that the service shows to nobody else (F-clean-hidden). */
export function wholeUrl(url: string): string {
  return /\/object\/public\/.*\.(?:hei[cf]|avif|tiff?)$/i.test(url)
    ? renditionUrl(url, "width=1600")
    : url;
}

/** Device pixels that a picture is never shown below and above: each width more is an address in every page. */
export type Bounds = readonly [least: number, most: number];

export function srcSetOf(
  url: string,
  { widths, v }: ImageInfo,
  bounds: Bounds = [0, Infinity],
): string {
  const enough = widths.find((width) => width >= bounds[1]) ?? widths.at(-1)!;
  return widths
    .filter((width) => (width >= bounds[0] && width <= enough) || width === enough)
    .map((width) => `${renditionUrl(url, `width=${width}&v=${v}`)} ${width}w`)
    .join(",");
}

/** A picture for screens of another shape; `width` and `height` are of the largest file. */
export type Cut = { media: string; srcSet: string; sizes: string; width: number; height: number };

/** Four by five, out of the middle: a phone's part of a broad picture, at a third of the bytes. */
export function uprightCut(url: string, info: ImageInfo, media: string, shown: string): Cut | null {
  const tall = 5 / 4;
  const widths = info.widths.filter((width) => width >= 256 && width * tall <= info.height);
  const width = widths.at(-1);
  if (!width || info.height * 1.2 > info.width * tall) return null;
  const address = (one: number) =>
    renditionUrl(url, `width=${one}&height=${Math.round(one * tall)}&resize=cover&v=${info.v}`);
  return {
    media,
    srcSet: widths.map((one) => `${address(one)} ${one}w`).join(","),
    sizes: sizesText([["", shown]]),
    width,
    height: Math.round(width * tall),
  };
}

/** The smallest width on offer that has a pixel for each of the screen's, or the largest. */
export function rungFor(widths: readonly number[], shown: number, density: number): number {
  const wanted = shown * density;
  return widths.find((width) => width >= wanted) ?? widths.at(-1) ?? 0;
}

/** How wide a picture is shown: for each media query a CSS length, the last one for all other screens. */
export type Sizes = readonly (readonly [query: string, width: string])[];

/**
 * Phones of three and more device pixels get what those of two would: nobody sees the difference, and it
 * halves the bytes. Wider screens are never that dense.
 */
export function sizesText(sizes: Sizes): string {
  const dense = "(min-resolution:2.5dppx)";
  return sizes
    .map(([query, width]) => (query ? `${query} ${width}` : `${dense} calc(.7*${width}),${width}`))
    .join(",");
}

/** Width by height; of what is not known a square's. */
export const ratioOf = (of?: { width: number; height: number }) => (of ? of.width / of.height : 1);

/** The shape for the style rules of a picture that has no shape of its own yet. */
export function shapeOf(of: { width: number; height: number }): CSSProperties {
  return { "--ratio": ratioOf(of), "--px": `${of.width}px` } as CSSProperties;
}
