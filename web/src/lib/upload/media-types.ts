import { IMAGE_MAX_BYTES, VIDEO_MAX_BYTES } from "@/lib/constants";

/** A kind of file that the site stores. */
export type MediaKind = "image" | "video";

/**
 * The picture format of iPhones. Only servers with libvips can read it, so the uploader first asks the server which types the bucket
 * accepts.
 */
export const HEIC = "image/heic";

// The accepted MIME types by extension, to reject a file by its name before its bytes are checked (sniff-type.ts).
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

/** What a form field for pictures accepts. */
export const IMAGE_ONLY: readonly MediaKind[] = ["image"];
/** What a form field for videos accepts. */
export const VIDEO_ONLY: readonly MediaKind[] = ["video"];
/** What a form field for both accepts. */
export const IMAGE_OR_VIDEO: readonly MediaKind[] = ["image", "video"];

/** The type of an accepted file. */
export type FileType = { kind: MediaKind; extension: string; mime: string };

/** The extension of a file name in lower case, without the dot; "" if there is none. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/**
 * The kind, extension and MIME type of a file by its extension, or by its type if the name has no extension, as for photos
 * shared from a phone. Null for a type that is not accepted.
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

/** Why a file is rejected: its type, its size, or HEIC on a server that cannot read it. */
export type Refusal = "type" | "size" | "heic";

/** Why a file is rejected by its name, type or size; null if it is not. Its bytes are not read here. */
export function refusalOf(
  file: { name: string; type: string; size: number },
  kinds: readonly MediaKind[],
): Refusal | null {
  const facts = fileTypeOf(file);
  if (!facts || !kinds.includes(facts.kind)) return "type";
  return file.size > maxBytes(facts.kind) ? "size" : null;
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
