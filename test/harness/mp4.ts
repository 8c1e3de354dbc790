// Parses MP4 videos, and makes videos whose index is after the media data, as cameras write them. An MP4 file is a list of
// boxes.

/** A box of a video: its type, and the positions of its first byte and after its last byte. */
export type Box = { kind: string; from: number; to: number };

/** Returns the top-level boxes of an MP4 video. */
export function boxes(video: Buffer): Box[] {
  const found: Box[] = [];
  for (let from = 0; from + 8 <= video.length;) {
    const to = from + video.readUInt32BE(from);
    found.push({ kind: video.toString("latin1", from + 4, from + 8), from, to });
    from = to;
  }
  return found;
}

/** Returns the bytes of the first box of this type. */
export const boxOf = (video: Buffer, kind: string): Buffer => {
  const found = boxes(video).find((box) => box.kind === kind)!;
  return video.subarray(found.from, found.to);
};

/** Returns the same video with its index at the end. The video's chunk offsets must have 32 bits. */
export function indexAtEnd(video: Buffer): Buffer {
  const { from, to } = boxes(video).find((box) => box.kind === "moov")!;
  const index = Buffer.from(video.subarray(from, to));
  for (let at = index.indexOf("stco"); at >= 0; at = index.indexOf("stco", at + 4)) {
    for (let i = 0; i < index.readUInt32BE(at + 8); i++) {
      const entry = at + 12 + 4 * i;
      index.writeUInt32BE(index.readUInt32BE(entry) - index.length, entry);
    }
  }
  return Buffer.concat([video.subarray(0, from), video.subarray(to), index]);
}
