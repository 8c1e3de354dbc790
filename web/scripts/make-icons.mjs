// Draws the mark of web/public/favicon.svg as the PNG files that manifests and phones ask for. Run it again only when the
// mark changes: `node web/scripts/make-icons.mjs`.
import { readFile } from "node:fs/promises";
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
 * @param {string} name of the file
 * @param {number} side in pixels
 * @param {number} part of the side that the mark takes; less than all of it stands on the wall's colour
 */
async function draw(name, side, part) {
  const inner = Math.round(side * part);
  const drawn = await sharp(Buffer.from(mark), { density: (72 * inner) / 32 })
    .resize(inner, inner)
    .png()
    .toBuffer();
  const background = part < 1 ? WALL : { r: 0, g: 0, b: 0, alpha: 0 };
  await sharp({ create: { width: side, height: side, channels: 4, background } })
    .composite([{ input: drawn }])
    .png({ palette: true, compressionLevel: 9, effort: 10 })
    .toFile(folder + name);
}

await draw("icon-192.png", 192, 1);
await draw("icon-512.png", 512, 1);
// The outer tenth on each side may be cut away (W3C Web Application Manifest, safe zone), corners too.
await draw("icon-maskable.png", 512, 0.62);
await draw("apple-touch-icon.png", 180, 0.7);
