import type { Language } from "@/lib/boot";
import type { LocalText } from "@/lib/local-text";
import { videoInfo, imageInfo, type VideoInfo, type ImageInfo } from "@/lib/media";
import type { Product } from "@/lib/types";
import { artworkAlt } from "@/features/artworks/artwork-label";

/**
 * A picture or video of a work, with its metadata if the server has any. `alt` is the owner's
 * alternative text of a picture; "" if there is none.
 */
export type ArtworkMedia =
  | { kind: "image"; url: string; info?: ImageInfo; alt: LocalText }
  | { kind: "video"; url: string; info?: VideoInfo };

/** All media of a work without duplicates: the main image, the gallery images, then the videos. */
export function artworkMedia(product: Product, language: Language): ArtworkMedia[] {
  const seen = new Set<string>();
  const media: ArtworkMedia[] = [];
  const add = (kind: ArtworkMedia["kind"], url: string | null) => {
    if (!url || seen.has(url)) return;
    seen.add(url);
    if (kind === "image") {
      const alt = artworkAlt(product, url, language);
      media.push({ kind, url, info: imageInfo(product, url), alt });
    } else media.push({ kind, url, info: videoInfo(product, url) });
  };
  add("image", product.image_url);
  for (const url of product.image_gallery ?? []) add("image", url);
  for (const url of product.video_gallery ?? []) add("video", url);
  return media;
}
