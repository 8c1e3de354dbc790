import type { OwnerBackend } from "@/lib/backend";
import type { Bucket } from "@/lib/constants";
import { objectPath } from "@/lib/upload/object-url";
import { stillOf } from "@/lib/upload/still-name";

/**
 * Deletes the files at these public URLs, and the stills of videos (the pictures that are shown until videos play). URLs outside the
 * bucket are ignored.
 */
export async function removeObjects(
  backend: OwnerBackend,
  bucket: Bucket,
  urls: readonly string[],
): Promise<void> {
  const files = urls.map((url) => objectPath(url, bucket)).filter((path) => path !== null);
  const stills = files.map(stillOf).filter((path) => path !== null);
  const paths = [...files, ...stills];
  if (paths.length === 0) return;
  const { error } = await backend.storage.from(bucket).remove(paths);
  if (error) throw error;
}
