import { IMAGE_MAX_BYTES, VIDEO_MAX_BYTES } from "@/lib/constants";

// Which files the owner can upload: their kinds and types by the name of the file, and their sizes.

/** A kind of file that the site stores. */
export type MediaKind = "image" | "video";

/**
 * The picture format of iPhones. Only servers with libvips (a library for pictures) can read it, so the uploader first asks the server
 * which types the bucket accepts.
 */
export const HEIC = "image/heic";

// The accepted MIME types by extension. With them a file is refused by its name, before its bytes are checked (sniff-type.ts).
const mimeByExtension: Record<MediaKind, Record<string, string>> = {
  image: {
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    png: "image/png",
    webp: "image/webp",
    gif: "image/gif",
    heic: HEIC,
    heif: HEIC,
  },
  video: { mp4: "video/mp4", webm: "video/webm", mov: "video/quicktime" },
};

/** The kinds that a form field for pictures accepts. */
export const IMAGE_ONLY: readonly MediaKind[] = ["image"];
/** The kinds that a form field for videos accepts. */
export const VIDEO_ONLY: readonly MediaKind[] = ["video"];
/** The kinds that a form field for pictures and videos accepts. */
export const IMAGE_OR_VIDEO: readonly MediaKind[] = ["image", "video"];

/** The type of an accepted file. */
export type FileType = { kind: MediaKind; extension: string; mime: string };

/** The extension of a file name in lower case, without the dot; "" if there is none. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/**
 * Returns the type of a file by the extension of its name. If the name has no extension, as with photos shared from a phone, the MIME
 * type that the browser reports decides. Returns null for a type that is not accepted.
 */
export function fileTypeOf(file: { name: string; type: string }): FileType | null {
  const extension = extensionOf(file.name);
  for (const kind of IMAGE_OR_VIDEO) {
    for (const [known, mime] of Object.entries(mimeByExtension[kind])) {
      if (extension ? known === extension : mime === file.type) {
        return { kind, extension: known, mime };
      }
    }
  }
  return null;
}

/** Why a file is refused: its type, its size, or HEIC on a server that cannot read it. */
export type Refusal = "type" | "size" | "heic";

/** Returns why a file is refused by its name, type or size, or null if the file is not refused. The bytes are not read. */
export function refusalOf(
  file: { name: string; type: string; size: number },
  kinds: readonly MediaKind[],
): Refusal | null {
  const type = fileTypeOf(file);
  if (!type || !kinds.includes(type.kind)) return "type";
  return file.size > maxBytes(type.kind) ? "size" : null;
}

/** The maximum size of an uploaded file of this kind. */
function maxBytes(kind: MediaKind): number {
  return kind === "image" ? IMAGE_MAX_BYTES : VIDEO_MAX_BYTES;
}

/**
 * The accept attribute of a file input. It has MIME types for the file picker of phones, and extensions for systems that
 * have no type for .mov. HEIC is left out, so that iPhones convert pictures to JPEG.
 */
export function acceptOf(kinds: readonly MediaKind[]): string {
  const parts = new Set<string>();
  for (const kind of kinds) {
    for (const [extension, mime] of Object.entries(mimeByExtension[kind])) {
      if (mime !== HEIC) parts.add(mime).add(`.${extension}`);
    }
  }
  return [...parts].join(",");
}
