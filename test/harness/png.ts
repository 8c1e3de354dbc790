// Makes small valid pictures without a library: a PNG is a header, deflated rows and three checksums.
import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** Returns a PNG of width × height pixels with a gradient, or with the given image data, which may be invalid. */
export function png(width: number, height: number, data?: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits, RGB
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", data ?? deflateSync(gradient(width, height))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns a white PNG of width × height pixels. */
export function whitePng(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3), 255);
  for (let y = 0; y < height; y++) rows[y * (1 + width * 3)] = 0; // a row begins with its filter
  return png(width, height, deflateSync(rows));
}

function gradient(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * (1 + width * 3) + 1 + x * 3;
      rows.set([(x * 255) / width, (y * 255) / height, 142], at);
    }
  }
  return rows;
}
