// Makes the site's icons from its logo, web/public/favicon.svg: the PNG icons of the web app manifest and of iOS, and
// favicon.ico, which browsers request at a fixed URL. Run this script only when the logo has changed:
// `node web/scripts/make-icons.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

const folder = fileURLToPath(new URL("../public/", import.meta.url));
const BACKGROUND = "#fafaf8"; // the page colour of the light colour scheme
// The logo without its media query for the dark colour scheme, because a PNG file has one set of colours.
const logo = (await readFile(`${folder}favicon.svg`, "utf8")).replace(
  /@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/,
  "",
);

/**
 * Renders the logo as a square PNG file.
 * @param {number} side width and height of the file in pixels
 * @param {number} scale the logo's share of the side; below 1 the logo has a border in the background colour
 * @param {boolean} palette whether to write an indexed PNG (with a table of its colours), which is smaller
 */
async function renderLogo(side, scale, palette = true) {
  const inner = Math.round(side * scale);
  // The logo is 32 units wide, and a unit is one pixel at a density of 72.
  const logoPng = await sharp(Buffer.from(logo), { density: (72 * inner) / 32 })
    .resize(inner, inner)
    .png()
    .toBuffer();
  const background = scale < 1 ? BACKGROUND : { r: 0, g: 0, b: 0, alpha: 0 };
  return sharp({ create: { width: side, height: side, channels: 4, background } })
    .composite([{ input: logoPng }])
    .png({ palette, compressionLevel: 9, effort: 10 })
    .toBuffer();
}

/**
 * Wraps a PNG file in the ICO format, as its only picture. The PNG must not be indexed: ICO readers expect 32 bits per
 * pixel.
 */
function toIco(png, side) {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // the file type: icon
  head.writeUInt16LE(1, 4); // the number of pictures
  head.writeUInt8(side, 6); // width
  head.writeUInt8(side, 7); // height
  head.writeUInt16LE(1, 10); // colour planes
  head.writeUInt16LE(32, 12); // bits per pixel
  head.writeUInt32LE(png.length, 14); // the size of the picture in bytes
  head.writeUInt32LE(head.length, 18); // where the picture begins
  return Buffer.concat([head, png]);
}

const save = (name, bytes) => writeFile(folder + name, bytes);
await save("favicon.ico", toIco(await renderLogo(32, 1, false), 32));
await save("icon-192.png", await renderLogo(192, 1));
await save("icon-512.png", await renderLogo(512, 1));
// Systems may crop a maskable icon to a circle of 80 % of its width, so the logo must fit into that circle.
await save("icon-maskable.png", await renderLogo(512, 0.62));
await save("apple-touch-icon.png", await renderLogo(180, 0.7));
