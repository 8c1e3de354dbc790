import { urlsOf, type ProductMedia } from "@/features/admin-products/schema";

/**
 * Returns the URLs of the files that a work (a row of products) no longer uses after a save, so that they can be deleted. These are
 * the files of the row before the save (`before`) and the files that the form has uploaded, without those of the saved row (`after`).
 * Another work may still use one of these files. The caller must check that.
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
