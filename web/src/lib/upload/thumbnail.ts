import { sniffFile } from "@/lib/upload/sniff-type";

// Resolves when all pictures so far are scaled. Pictures are scaled one after the other, because scaling a picture of 24 megapixels
// takes 100 MB of memory.
let queue: Promise<unknown> = Promise.resolve();

/**
 * Makes a small copy of a chosen picture, `heightPx` pixels high, and returns an object URL of the copy. The caller revokes the URL.
 * Lists of uploads show such copies, because many full pictures need too much memory. If this browser cannot scale the picture, the
 * URL is an object URL of the file itself. Returns null if `signal` is aborted, or for a HEIC file (the picture format of iPhones)
 * that this browser cannot show.
 */
export async function makeThumbnailUrl(
  file: Blob,
  heightPx: number,
  signal?: AbortSignal,
): Promise<string | null> {
  const scaled = queue.then(() => (signal?.aborted ? null : scale(file, heightPx)));
  queue = scaled.catch(() => undefined);
  const url = await scaled;
  if (!signal?.aborted) return url;
  if (url) URL.revokeObjectURL(url);
  return null;
}

/** Returns the object URL of the scaled picture, or of the file itself if this browser cannot scale it. */
async function scale(file: Blob, heightPx: number): Promise<string | null> {
  const small = await shrink(file, heightPx).catch(() => null);
  if (!small && (await sniffFile(file)) === "image/heic") return null;
  return URL.createObjectURL(small ?? file);
}

/** A copy of the picture in WebP; null if this browser cannot scale pictures. */
async function shrink(file: Blob, heightPx: number): Promise<Blob | null> {
  if (typeof createImageBitmap !== "function") return null;
  // Only the height is given, so that the width follows, and a very tall picture does not become a very large bitmap.
  const bitmap = await createImageBitmap(file, { resizeHeight: heightPx, resizeQuality: "medium" });
  try {
    const canvas = document.createElement("canvas");
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/webp", 0.8));
  } finally {
    bitmap.close();
  }
}
