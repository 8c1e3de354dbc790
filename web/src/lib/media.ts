import type { CSSProperties } from "react";

// The metadata of pictures and videos, from the server's computed column `media`, and the URLs of renditions. A rendition is a picture
// made from a stored picture, in another size or format. The standard widths of renditions are a list of the server, which begins with
// 64, 128 and 192 pixels (internal/media/ladder.go). A still is the picture that is shown until a video plays.

/** Metadata of a picture. Sizes are in pixels, after the rotation with which the picture is shown. */
export type ImageInfo = {
  kind: "image";
  /** The version of the file's content. URLs of renditions contain the version, so that browsers can cache them for ever. */
  v: string;
  width: number;
  height: number;
  /** A blurred preview of about 20 bytes, in base64. */
  thumbhash?: string;
  /** The dominant colour, #rrggbb. */
  color?: string;
  /** Widths of the available renditions in pixels, ascending. */
  widths: number[];
  /** Whether the full size is available as tiles of 1024 pixels. */
  tiles?: boolean;
  /** The focus point, as shares of width and height from 0 to 1. */
  focus?: [x: number, y: number];
  /** Facts for the owner. Visitors do not get them. */
  details?: MediaDetails;
};

/** Metadata of a video. */
export type VideoInfo = {
  kind: "video";
  width: number;
  height: number;
  /** The length of the video in seconds. */
  duration?: number;
  /** The code of the video's codec, such as avc1. */
  codec?: string;
  /** The URL of the still. A video with a still has `poster` and `still`. A video without one has neither. */
  poster?: string;
  /** Metadata of the still. */
  still?: ImageInfo;
  details?: MediaDetails;
};

/** Facts about a file for the owner. All sizes are in bytes. */
export type MediaDetails = {
  /** The state of the renditions. */
  state: "waiting" | "ready" | "failed";
  /** The failure code if the renditions failed (components/upload/failure-key.ts). */
  reason?: string;
  /** The size of the original. */
  original: number;
  /** The size of the public file. */
  public: number;
  /** The sizes of the renditions in the standard widths, by width. */
  ladder?: Record<string, number>;
  /** The difference between the colours of the renditions and of the original, as Delta E. Below 1 it is invisible. */
  delta_e?: number;
  /** The name of the original's colour profile, as the profile describes itself. */
  profile?: string;
  /** Whether the original has colours so far outside sRGB that renditions use the larger colour space Display P3. */
  wide?: boolean;
};

/** Metadata of the files of a row, by the URL that the row stores. */
export type MediaInfo = Record<string, ImageInfo | VideoInfo>;

type Row = { media?: MediaInfo };

/**
 * Makes a function that returns the metadata of a row's file; undefined if the row has none for the
 * file, or if the file is of the other kind.
 */
const infoOf =
  <Info extends ImageInfo | VideoInfo>(kind: Info["kind"]) =>
  (row: Row, url: string | null): Info | undefined => {
    const info = row.media?.[url ?? ""];
    return info?.kind === kind ? (info as Info) : undefined;
  };
/** Returns the metadata of the picture at a URL. */
export const imageInfo = infoOf<ImageInfo>("image");
/** Returns the metadata of the video at a URL. */
export const videoInfo = infoOf<VideoInfo>("video");

/** The URL of a rendition of a stored file. Spaces are escaped, because a space ends a URL in a srcset. */
export function renditionUrl(url: string, query: string): string {
  const path = url.replace("/object/public/", "/render/image/public/").replace(/\?.*/, "");
  return `${path.replaceAll(" ", "%20")}?${query}`;
}

/** The URL at which browsers can show a file: that of the stored file, or for HEIC, AVIF and TIFF that of a rendition. */
export function displayUrl(url: string): string {
  return /\/object\/public\/.*\.(?:hei[cf]|avif|tiff?)$/i.test(url)
    ? renditionUrl(url, "width=1600")
    : url;
}

/** The smallest and largest width in device pixels that a picture can need. The page omits all other renditions. */
export type Bounds = readonly [least: number, most: number];

/** The srcset attribute with the renditions within the bounds, and the first one beyond them. */
export function srcSetFor(
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

/** A cropped source for the screens that `media` matches; `width` and `height` are those of its largest file. */
export type Crop = { media: string; srcSet: string; sizes: string; width: number; height: number };

/**
 * A centred 4:5 crop of a broad picture for phones, which has about a third of the bytes. Null if the picture is so narrow
 * that cropping saves little. `shown` is the rendered width as a CSS length.
 */
export function portraitCrop(
  url: string,
  info: ImageInfo,
  media: string,
  shown: string,
): Crop | null {
  const heightRatio = 5 / 4;
  const widths = info.widths.filter((width) => width >= 256 && width * heightRatio <= info.height);
  const width = widths.at(-1);
  if (!width || info.height * 1.2 > info.width * heightRatio) return null;
  const cropUrl = (cropWidth: number) =>
    renditionUrl(
      url,
      `width=${cropWidth}&height=${Math.round(cropWidth * heightRatio)}&resize=cover&v=${info.v}`,
    );
  return {
    media,
    srcSet: widths.map((cropWidth) => `${cropUrl(cropWidth)} ${cropWidth}w`).join(","),
    sizes: sizesText([["", shown]]),
    width,
    height: Math.round(width * heightRatio),
  };
}

/**
 * The smallest available width that has a pixel for each device pixel, or the largest one. `shown` is in CSS pixels.
 */
export function pickWidth(widths: readonly number[], shown: number, density: number): number {
  const wanted = shown * density;
  return widths.find((width) => width >= wanted) ?? widths.at(-1) ?? 0;
}

/** The rendered widths of a picture: CSS lengths by media query. The last entry has the query "" and is the default. */
export type Sizes = readonly (readonly [query: string, width: string])[];

/**
 * The sizes attribute. Screens with at least 2.5 device pixels per CSS pixel get files of 0.7 times the width, because
 * nobody sees the difference and it halves the bytes.
 */
export function sizesText(sizes: Sizes): string {
  const dense = "(min-resolution:2.5dppx)";
  return sizes
    .map(([query, width]) => (query ? `${query} ${width}` : `${dense} calc(.7*${width}),${width}`))
    .join(",");
}

/**
 * The aspect ratio, width by height, to five digits, because a page contains dozens of ratios and their digits do not
 * compress; 1 for a picture of unknown size.
 */
export const ratioOf = (of?: { width: number; height: number }) =>
  of ? Number((of.width / of.height).toPrecision(5)) : 1;

/** Custom properties with the aspect ratio and the width of a picture, for the rules that reserve its space. */
export function ratioStyle(of: { width: number; height: number }): CSSProperties {
  return { "--ratio": ratioOf(of), "--px": `${of.width}px` } as CSSProperties;
}
