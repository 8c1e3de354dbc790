// Test files whose first bytes fit their names, because the page checks them before an upload.

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

/** A file that begins as a PNG does. */
export const pngFile = (name: string) =>
  new File([bytes("\x89PNG\r\n\x1a\n")], name, { type: "image/png" });

/** A file that begins as an MP4 video does. */
export const mp4File = (name: string) =>
  new File([bytes("\0\0\0\x18ftypisom\0\0\x02\0isommp41")], name, { type: "video/mp4" });
