import type { Product } from "@/lib/types";

export type ArtworkMedia = { kind: "image" | "video"; url: string };

/** Main image, gallery images, then videos; a file that is named twice is shown once. */
export function artworkMedia(product: Product): ArtworkMedia[] {
  const seen = new Set<string>();
  const media: ArtworkMedia[] = [];
  const add = (kind: ArtworkMedia["kind"], url: string | null) => {
    if (!url || seen.has(url)) return;
    seen.add(url);
    media.push({ kind, url });
  };
  add("image", product.image_url);
  for (const url of product.image_gallery ?? []) add("image", url);
  for (const url of product.video_gallery ?? []) add("video", url);
  return media;
}
