import { urlsOf, type ProductMedia } from "@/features/admin-products/schema";

/**
 * Returns the files that a work has stopped using by a save: those of the old row and all uploads, except those of the new
 * row. It is possible that another work uses them; sharedFiles finds out.
 */
export function releasedFiles(
  before: ProductMedia | null,
  uploaded: readonly string[],
  after: ProductMedia,
): string[] {
  const kept = new Set(urlsOf(after));
  const candidates = new Set([...(before ? urlsOf(before) : []), ...uploaded]);
  return [...candidates].filter((url) => !kept.has(url));
}
