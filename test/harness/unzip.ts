// Reads a zip file without a library: the entries by the central directory at its end. Archives beyond 4 GB are not supported.
import { readFile } from "node:fs/promises";
import { inflateRawSync } from "node:zlib";

/** Returns the contents of all entries by their names. */
export async function unzip(file: string): Promise<Map<string, Buffer>> {
  const zip = await readFile(file);
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  const entries = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((n) => zip.readUInt16LE(at + n));
    const header = zip.readUInt32LE(at + 42);
    const from = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    const data = zip.subarray(from, from + size);
    entries.set(
      zip.subarray(at + 46, at + 46 + name!).toString(),
      method === 8 ? inflateRawSync(data) : data,
    );
    at += 46 + name! + extra! + comment!;
  }
  return entries;
}
