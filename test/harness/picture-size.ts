// Reads the type and size of a picture from its bytes, because the headers of a response may be wrong.

/** Returns for example "webp 320x160", "png 320x160" or "jpeg 320x160". */
export function pictureSize(file: Buffer): string {
  if (file.toString("latin1", 8, 12) === "WEBP") {
    return file.toString("latin1", 12, 16) === "VP8X"
      ? `webp ${1 + file.readUIntLE(24, 3)}x${1 + file.readUIntLE(27, 3)}`
      : `webp ${file.readUInt16LE(26) & 0x3fff}x${file.readUInt16LE(28) & 0x3fff}`;
  }
  if (file.toString("latin1", 1, 4) === "PNG") {
    return `png ${file.readUInt32BE(16)}x${file.readUInt32BE(20)}`;
  }
  for (let at = 2; at < file.length; at += 2 + file.readUInt16BE(at + 2)) {
    const marker = file[at + 1]!;
    if (marker >= 0xc0 && marker <= 0xc2) {
      return `jpeg ${file.readUInt16BE(at + 7)}x${file.readUInt16BE(at + 5)}`;
    }
  }
  throw new Error("neither WebP, PNG nor JPEG");
}
