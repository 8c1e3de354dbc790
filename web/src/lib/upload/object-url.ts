import type { Boot } from "@/lib/boot";
import type { Bucket } from "@/lib/constants";

const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/");

export function publicUrl(boot: Pick<Boot, "apiUrl">, bucket: Bucket, path: string): string {
  return `${boot.apiUrl}/storage/v1/object/public/${bucket}/${encodePath(path)}`;
}

/** The path of a file of ours, or null for an address that is stored somewhere else. */
export function objectPath(url: string, bucket: Bucket): string | null {
  // Matched without the host: a site that moved to another address still owns its files.
  const mark = `/storage/v1/object/public/${bucket}/`;
  const at = url.indexOf(mark);
  if (at < 0) return null;
  const path = url.slice(at + mark.length).replace(/[?#].*$/, "");
  try {
    return path ? decodeURIComponent(path) : null;
  } catch {
    return null; // a stray percent sign: not an address we made
  }
}
