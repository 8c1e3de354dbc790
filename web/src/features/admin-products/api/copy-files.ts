import type { OwnerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { randomFileName } from "@/lib/upload/file-name";
import { objectPath, publicUrl } from "@/lib/upload/object-url";
import { stillOf } from "@/lib/upload/still-name";

/**
 * Copies the files of a work for its duplicate, and the stills of videos (the pictures shown until a video plays). Adds the URL of
 * each copy to `copies`, by the URL of the original file. A retry with the same map copies only the files that the map lacks.
 *
 * Files on other sites are not copied. This site never deletes them, so several works can refer to such a file.
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
    // The result is ignored, because the video may have no still.
    if (still) await bucket.copy(still, stillOf(name)!);
    copies.set(url, publicUrl(boot, BUCKETS.products, name));
  }
}
