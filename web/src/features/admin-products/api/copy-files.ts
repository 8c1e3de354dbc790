import type { OwnerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { randomFileName } from "@/lib/upload/file-name";
import { objectPath, publicUrl } from "@/lib/upload/object-url";
import { stillOf } from "@/lib/upload/still-name";

/**
 * Gives each of these stored files a copy under a name of its own, and notes in `copies` which it is, so that a
 * second try copies only what is missing. Addresses of other places stay shared: nobody deletes those.
 */
export async function copyFiles(
  backend: OwnerBackend,
  boot: Boot,
  urls: readonly string[],
  copies: Map<string, string>,
): Promise<void> {
  const bucket = backend.storage.from(BUCKETS.products);
  for (const url of urls) {
    const path = objectPath(url, BUCKETS.products);
    if (path === null || copies.has(url)) continue;
    const name = randomFileName(path.slice(path.lastIndexOf(".") + 1));
    const { error } = await bucket.copy(path, name);
    if (error) throw error;
    const still = stillOf(path);
    // A film may have none: then the copy has none either.
    if (still) await bucket.copy(still, stillOf(name)!);
    copies.set(url, publicUrl(boot, BUCKETS.products, name));
  }
}
