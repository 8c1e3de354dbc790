// Draws the mark of web/public/favicon.svg as the PNG files that manifests and phones ask for, and as the icon that
// browsers and programs ask for unasked. Run it again only when the mark changes: `node web/scripts/make-icons.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

const folder = fileURLToPath(new URL("../public/", import.meta.url));
const WALL = "#fafaf8"; // DESIGN §2, cal
// In files of one look there is no dark one.
const mark = (await readFile(`${folder}favicon.svg`, "utf8")).replace(
  /@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/,
  "",
);

/**
 * @param {number} side in pixels
 * @param {number} part of the side that the mark takes; less than all of it stands on the wall's colour
 * @param {boolean} palette whether each pixel names a colour of a list, which is smaller
 */
async function draw(side, part, palette = true) {
  const inner = Math.round(side * part);
  const drawn = await sharp(Buffer.from(mark), { density: (72 * inner) / 32 })
    .resize(inner, inner)
    .png()
    .toBuffer();
  const background = part < 1 ? WALL : { r: 0, g: 0, b: 0, alpha: 0 };
  return sharp({ create: { width: side, height: side, channels: 4, background } })
    .composite([{ input: drawn }])
    .png({ palette, compressionLevel: 9, effort: 10 })
    .toBuffer();
}

/** The old icon format: a directory of one entry and its picture, a PNG with four whole channels: the format knows no other. */
function inDirectory(png, side) {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // icons
  head.writeUInt16LE(1, 4); // one of them
  head.writeUInt8(side, 6);
  head.writeUInt8(side, 7);
  head.writeUInt16LE(1, 10); // planes
  head.writeUInt16LE(32, 12); // bits a pixel
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

const save = (name, bytes) => writeFile(folder + name, bytes);
await save("favicon.ico", inDirectory(await draw(32, 1, false), 32));
await save("icon-192.png", await draw(192, 1));
await save("icon-512.png", await draw(512, 1));
// The outer tenth on each side may be cut away (W3C Web Application Manifest, safe zone), corners too.
await save("icon-maskable.png", await draw(512, 0.62));
await save("apple-touch-icon.png", await draw(180, 0.7));
