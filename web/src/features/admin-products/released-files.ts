import { urlsOf, type ProductMedia } from "@/features/admin-products/schema";

/**
 * Returns the files that a work does not use after a save: files of the old row and uploads that are not in the new row.
 * Another work may still use them, which findSharedFiles checks.
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
