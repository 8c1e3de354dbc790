import { urlsOf, type ProductMedia } from "@/features/admin-products/schema";

/**
 * Returns the files that a work no longer uses after a save: files of the old row and uploads that are not in the new row.
 * Other works may still use them, which findSharedFiles checks.
 */
export function releasedFiles(
  before: ProductMedia | null,
  uploaded: readonly string[],
  after: ProductMedia,
): string[] {
  const used = new Set(urlsOf(after));
  const candidates = new Set([...(before ? urlsOf(before) : []), ...uploaded]);
  return [...candidates].filter((url) => !used.has(url));
}
