import { urlsOf, type ProductMedia } from "@/features/admin-products/schema";

/**
 * Returns the URLs of the files that a work no longer uses after a save. These are the files of the earlier row and the
 * uploads of the form that the new row does not contain. Other works may still use them; findSharedFiles checks that.
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
