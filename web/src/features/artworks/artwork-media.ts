import { videoInfo, imageInfo, type VideoInfo, type ImageInfo } from "@/lib/media";
import type { Product } from "@/lib/types";

/** A picture or video of a work, with its metadata if the server has any. */
export type ArtworkMedia =
  | { kind: "image"; url: string; info?: ImageInfo }
  | { kind: "video"; url: string; info?: VideoInfo };

/** All media of a work without duplicates: the main image, the gallery images, then the videos. */
export function artworkMedia(product: Product): ArtworkMedia[] {
  const seen = new Set<string>();
  const media: ArtworkMedia[] = [];
  const add = (kind: ArtworkMedia["kind"], url: string | null) => {
    if (!url || seen.has(url)) return;
    seen.add(url);
    if (kind === "image") media.push({ kind, url, info: imageInfo(product, url) });
    else media.push({ kind, url, info: videoInfo(product, url) });
  };
  add("image", product.image_url);
  for (const url of product.image_gallery ?? []) add("image", url);
  for (const url of product.video_gallery ?? []) add("video", url);
  return media;
}
