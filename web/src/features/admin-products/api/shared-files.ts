import type { OwnerBackend } from "@/lib/backend";
import { quoted } from "@/lib/text-filter";

/**
 * Finds out which files of a work must not be deleted, because another work uses them. Returns the URLs among `urls` that another
 * work uses. `exceptId` is the id of the work itself, or undefined for a new work.
 */
export async function findSharedFiles(
  backend: OwnerBackend,
  urls: readonly string[],
  exceptId: string | undefined,
): Promise<Set<string>> {
  const shared = new Set<string>();
  for (const url of urls) {
    // "cs" is PostgREST's filter "contains": the column's array has all elements of {…}. The URL is quoted as an element of the
    // array, and the array is quoted again as a value of the filter.
    const conditions = [
      ["image_url", "eq", quoted(url)],
      ["image_gallery", "cs", quoted(`{${quoted(url)}}`)],
      ["video_gallery", "cs", quoted(`{${quoted(url)}}`)],
    ];
    let query = backend
      .from("products")
      .select("id")
      .or(conditions.map((parts) => parts.join(".")).join(","));
    if (exceptId) query = query.neq("id", exceptId);
    const { data, error } = await query.limit(1);
    if (error) throw error;
    if (data.length > 0) shared.add(url);
  }
  return shared;
}
