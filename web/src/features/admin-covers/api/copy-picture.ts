import type { OwnerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { randomFileName } from "@/lib/upload/file-name";
import { objectPath, publicUrl } from "@/lib/upload/object-url";

/**
 * Copies the picture of a work to the files of the covers (the large pictures at the top of the home page), and returns the
 * URL of the copy. The server copies the original file. The cover has a file of its own for two reasons: later changes of the
 * work do not affect it, and the server makes the upright crops for phones only for files of covers. The URL of a picture on
 * another site is returned unchanged.
 */
export async function copyPicture(backend: OwnerBackend, boot: Boot, url: string): Promise<string> {
  const path = objectPath(url, BUCKETS.products);
  if (path === null) return url;
  const name = randomFileName(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
  const { error } = await backend.storage
    .from(BUCKETS.products)
    .copy(path, name, { destinationBucket: BUCKETS.covers });
  if (error) throw error;
  return publicUrl(boot, BUCKETS.covers, name);
}
