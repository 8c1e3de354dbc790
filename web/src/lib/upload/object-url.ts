import type { Boot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";

const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** Returns the public URL of a stored file. `path` is the name of the file in the bucket. */
export function publicUrl(boot: Pick<Boot, "apiUrl">, bucket: Bucket, path: string): string {
  return `${boot.apiUrl}/storage/v1/object/public/${bucket}/${encodePath(path)}`;
}

/** Returns the path in the bucket of the file at a public URL, or null for a URL outside the bucket. */
export function objectPath(url: string, bucket: Bucket): string | null {
  // The host is not compared, because rows of a site that has moved still contain its old host.
  const prefix = `/storage/v1/object/public/${bucket}/`;
  const start = url.indexOf(prefix);
  if (start < 0) return null;
  const path = url.slice(start + prefix.length).replace(/[?#].*$/, "");
  try {
    return path ? decodeURIComponent(path) : null;
  } catch {
    return null; // an invalid percent encoding; the site never writes one
  }
}
