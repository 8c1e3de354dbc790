import type { ProductMedia } from "@/features/admin-products/schema";

function urlsOf(media: ProductMedia): string[] {
  return [media.image_url, ...media.image_gallery, ...media.video_gallery].filter(
    (url) => url !== null,
  );
}

/**
 * The stored files that a save has let go: what the row had before or what was uploaded meanwhile,
 * minus what the row has now. A file that another work also shows stays.
 */
export function releasedFiles(
  before: ProductMedia | null,
  uploaded: readonly string[],
  after: ProductMedia,
  others: readonly ProductMedia[],
): string[] {
  const kept = new Set([...urlsOf(after), ...others.flatMap(urlsOf)]);
  const candidates = new Set([...(before ? urlsOf(before) : []), ...uploaded]);
  return [...candidates].filter((url) => !kept.has(url));
}
