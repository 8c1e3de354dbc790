import { sniffFile } from "@/lib/upload/sniff-type";

// Pictures are scaled one after the other, because scaling one of 24 megapixels takes 100 MB of memory.
let previous: Promise<unknown> = Promise.resolve();

/**
 * Returns the object URL of a small copy of a picture, `heightPx` pixels high, because many full pictures need too much
 * memory. If this browser cannot scale the picture, the URL is that of the file itself. Null if the picture is a HEIC file
 * that this browser cannot scale, or if `signal` is aborted. The caller revokes the URL.
 */
export function thumbnailOf(
  file: Blob,
  heightPx: number,
  signal?: AbortSignal,
): Promise<string | null> {
  const result = previous.then(() => (signal?.aborted ? null : makeThumbnailUrl(file, heightPx)));
  previous = result.catch(() => undefined);
  return result.then((url) => {
    if (url && signal?.aborted) URL.revokeObjectURL(url);
    return signal?.aborted ? null : url;
  });
}

async function makeThumbnailUrl(file: Blob, heightPx: number): Promise<string | null> {
  const small = await shrink(file, heightPx).catch(() => null);
  if (!small && (await sniffFile(file)) === "image/heic") return null;
  return URL.createObjectURL(small ?? file);
}

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
