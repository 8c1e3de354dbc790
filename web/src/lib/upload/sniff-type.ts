// Detects the type of a file by its first bytes, before the upload. Without this check the server would reject a file only after
// minutes of uploading. The rules are those of the server (internal/files/type.go), without TIFF and AVIF, which the admin area does
// not offer to upload.

/** How many bytes are read from the start of a file. */
const SNIFF_BYTES = 4096;

/** The extensions of each type. A file with another extension is stored with the first extension of its type. */
const extensionsByMime: Record<string, readonly string[]> = {
  "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"],
  "image/png": ["png"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
  "image/heic": ["heic", "heif"],
  // Cameras use the extensions .mov and .mp4 for both types.
  "video/mp4": ["mp4", "m4v", "mov"],
  "video/quicktime": ["mov", "qt", "mp4"],
  "video/webm": ["webm", "mkv"],
  "video/x-matroska": ["mkv"],
};

/** Splits a text into brands, which are codes of four letters. */
const splitBrands = (text: string) => text.match(/.{4}/g)!;

// MP4, MOV and HEIC files begin with a box (a block of data) named ftyp. The box contains brands: codes of four letters that name the
// format of the file. AVIF, camera raw and audio files begin with an ftyp box too. The brand "mif1" stands for any kind of picture.
const VIDEO_BRANDS = splitBrands(
  "isomiso2iso3iso4iso5iso6iso7iso8iso9mp41mp42mp71avc1hvc1hev1dashcmfcM4V M4VHM4VPMSNVf4v mmp4XAVC",
);
const HEIC_BRANDS = splitBrands("heicheixheimheis");
const PICTURE_BRANDS = [...HEIC_BRANDS, "avif"];
const REJECTED_BRANDS = splitBrands("hevchevxmsf1avifaviscrx jp2 jpm jpx M4A M4B M4P ");

/** Returns the MIME type of a file by its first bytes, or null if the type is not accepted. */
export async function sniffFile(file: Blob): Promise<string | null> {
  return sniffBytes(new Uint8Array(await file.slice(0, SNIFF_BYTES).arrayBuffer()));
}

/** Returns the extension for the stored file: `extension` if it fits the MIME type, else the first extension of the type. */
export function extensionFor(mime: string, extension: string): string {
  const known = extensionsByMime[mime]!;
  return known.includes(extension) ? extension : known[0]!;
}

/** Like sniffFile, for the first bytes of a file. */
export function sniffBytes(head: Uint8Array): string | null {
  const text = (from: number, to: number) => String.fromCharCode(...head.subarray(from, to));
  if (text(0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (text(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (/^GIF8[79]a$/.test(text(0, 6))) return "image/gif";
  if (text(0, 4) === "RIFF" && text(8, 12) === "WEBP") return "image/webp";
  if (head.length >= 16 && text(4, 8) === "ftyp") return sniffBrands(head, text);
  if (text(0, 4) === "\x1a\x45\xdf\xa3") return sniffEbml(head);
  return null;
}

/** The type according to the major brand, else according to the compatible brands (ISO/IEC 14496-12 §4.3). */
function sniffBrands(head: Uint8Array, text: (from: number, to: number) => string): string | null {
  const size = Math.min(new DataView(head.buffer, head.byteOffset).getUint32(0), head.length);
  if (size < 16) return null;
  const major = text(8, 12);
  if (major === "qt  ") return "video/quicktime";
  if (HEIC_BRANDS.includes(major)) return "image/heic";
  const compatible = Array.from({ length: Math.max(0, (size - 16) >> 2) }, (_, i) =>
    text(16 + 4 * i, 20 + 4 * i),
  );
  if (major === "mif1" || major === "mif2") {
    const first = compatible.find((brand) => PICTURE_BRANDS.includes(brand));
    return first && first !== "avif" ? "image/heic" : null;
  }
  if (REJECTED_BRANDS.includes(major)) return null;
  if (VIDEO_BRANDS.includes(major)) return "video/mp4";
  return compatible.some((brand) => VIDEO_BRANDS.includes(brand)) ? "video/mp4" : null;
}

/** The type by the document type in an EBML header (RFC 8794 §11.2.4), which is "webm" or "matroska". */
function sniffEbml(head: Uint8Array): string | null {
  const headerSize = ebmlNumber(head, 4);
  if (!headerSize) return null;
  const end = Math.min(head.length, headerSize.next + headerSize.value);
  for (let offset = headerSize.next; offset < end;) {
    const id = ebmlNumber(head.subarray(0, end), offset);
    const size = id && ebmlNumber(head.subarray(0, end), id.next);
    if (!size || size.value > end - size.next) return null;
    if (id.next - offset === 2 && head[offset] === 0x42 && head[offset + 1] === 0x82) {
      const value = String.fromCharCode(...head.subarray(size.next, size.next + size.value));
      const type = value.replace(/\0+$/, "");
      return type === "webm" ? "video/webm" : type === "matroska" ? "video/x-matroska" : null;
    }
    offset = size.next + size.value;
  }
  return null;
}

/** Reads a number of variable length (RFC 8794 §4); `next` is the index after it. */
function ebmlNumber(bytes: Uint8Array, offset: number): { value: number; next: number } | null {
  const first = bytes[offset];
  if (!first) return null;
  const length = Math.clz32(first) - 23;
  if (offset + length > bytes.length) return null;
  let value = first & ((1 << (8 - length)) - 1);
  for (const byte of bytes.subarray(offset + 1, offset + length)) value = value * 256 + byte;
  return { value, next: offset + length };
}
