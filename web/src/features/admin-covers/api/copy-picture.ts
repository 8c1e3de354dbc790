import type { OwnerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { randomFileName } from "@/lib/upload/file-name";
import { objectPath, publicUrl } from "@/lib/upload/object-url";

/**
 * Copies the picture of a work, for a new cover (a large picture at the top of the home page). The server copies the file from
 * the bucket of the works to the bucket of the covers. Returns the URL of the copy. A cover has a file of its own for two
 * reasons: later changes of the work do not affect it, and the server makes upright crops for phones only from files of covers.
 * The URL of a picture on another site is returned unchanged.
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
