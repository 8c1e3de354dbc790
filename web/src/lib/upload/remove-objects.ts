import type { OwnerBackend } from "@/lib/backend";
import type { Bucket } from "@/lib/constants";
import { objectPath } from "@/lib/upload/object-url";

/** Deletes the stored files behind these public addresses; addresses of other places are left alone. */
export async function removeObjects(
  backend: OwnerBackend,
  bucket: Bucket,
  urls: readonly string[],
): Promise<void> {
  const paths = urls.map((url) => objectPath(url, bucket)).filter((path) => path !== null);
  if (paths.length === 0) return;
  const { error } = await backend.storage.from(bucket).remove(paths);
  if (error) throw error;
}
