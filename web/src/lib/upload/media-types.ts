import { IMAGE_MAX_BYTES, VIDEO_MAX_BYTES } from "@/lib/constants";

export type MediaKind = "image" | "video";

/** What iPhones store. The service reads it only where libvips does: it is asked before one is sent. */
export const HEIC = "image/heic";

// The bytes decide (file-bytes.ts); this list refuses by the name alone, before a file is opened.
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

export const IMAGE_ONLY: readonly MediaKind[] = ["image"];
export const VIDEO_ONLY: readonly MediaKind[] = ["video"];
export const IMAGE_OR_VIDEO: readonly MediaKind[] = ["image", "video"];

export type FileFacts = { kind: MediaKind; extension: string; mime: string };

function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** The extension decides; the type is asked only when a name has none (photos shared from a phone). */
export function fileFacts(file: { name: string; type: string }): FileFacts | null {
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

export type Refusal = "type" | "size" | "heic";

export function refusalOf(
  file: { name: string; type: string; size: number },
  kinds: readonly MediaKind[],
): Refusal | null {
  const facts = fileFacts(file);
  if (!facts || !kinds.includes(facts.kind)) return "type";
  return file.size > maxBytes(facts.kind) ? "size" : null;
}

export function maxBytes(kind: MediaKind): number {
  return kind === "image" ? IMAGE_MAX_BYTES : VIDEO_MAX_BYTES;
}

/**
 * The accept attribute: types for the phone's picker, extensions for systems that know no type for .mov. HEIC is not
 * among them: without it iPhones hand over JPEG by themselves.
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
