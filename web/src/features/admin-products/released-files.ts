import { urlsOf, type ProductMedia } from "@/features/admin-products/schema";

/**
 * The stored files that a save has let go: what the row had before or what was uploaded meanwhile, minus what the
 * row has now. Whether another work shows one of them is the service's to say.
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
