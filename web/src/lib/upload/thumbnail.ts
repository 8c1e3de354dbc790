import { typeOfFile } from "@/lib/upload/file-bytes";

// One decode at a time: a 24-megapixel picture is 100 MB while it is made small.
let last: Promise<unknown> = Promise.resolve();

/**
 * The object URL of a small copy of a picture, so that a page full of dropped files holds pixels of thumbnails only. Of
 * what this browser cannot make small, the URL of the file itself. Null when the signal has ended it.
 */
export function thumbnailOf(
  file: Blob,
  maxPx: number,
  signal?: AbortSignal,
): Promise<string | null> {
  const mine = last.then(() => (signal?.aborted ? null : make(file, maxPx)));
  last = mine.catch(() => undefined);
  return mine.then((url) => {
    if (url && signal?.aborted) URL.revokeObjectURL(url);
    return signal?.aborted ? null : url;
  });
}

async function make(file: Blob, maxPx: number): Promise<string | null> {
  const small = await shrink(file, maxPx).catch(() => null);
  if (!small && (await typeOfFile(file)) === "image/heic") return null;
  return URL.createObjectURL(small ?? file);
}

async function shrink(file: Blob, maxPx: number): Promise<Blob | null> {
  if (typeof createImageBitmap !== "function") return null;
  // The height alone: the width follows, and no very tall picture becomes a very large bitmap.
  const bitmap = await createImageBitmap(file, { resizeHeight: maxPx, resizeQuality: "medium" });
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
