// Writes the site's two font files, Ysabeau upright and italic, to web/public/fonts. They have only the characters and weights
// that the site uses. Run this script only when the font package or the list of characters has changed:
// `node web/scripts/subset-fonts.mjs`.
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import subsetFont from "subset-font";

const packageDir = dirname(
  createRequire(import.meta.url).resolve("@fontsource-variable/ysabeau/package.json"),
);
const target = fileURLToPath(new URL("../public/fonts/", import.meta.url));
const BUDGET_BYTES = 70_000; // the largest size of both files together

// All characters from one code point to another, both included.
const range = (from, to) =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)).join("");

// The printable characters of Latin-1 and further ones: Œœ, dashes, curly quotes, ‹ ›, ellipsis, euro, ×, minus and the arrows.
const characters = range(0x20, 0x7e) + range(0xa0, 0xff) + "Œœ–—‘’‚“”„‹›…€×−←↑→↓↗";

await mkdir(target, { recursive: true });
let total = 0;
for (const [style, name] of [
  ["normal", "ysabeau-roman.woff2"],
  ["italic", "ysabeau-italic.woff2"],
]) {
  const source = await readFile(join(packageDir, "files", `ysabeau-latin-wght-${style}.woff2`));
  const subset = await subsetFont(source, characters, {
    targetFormat: "woff2",
    variationAxes: { wght: { min: 200, max: 700 } },
  });
  await writeFile(join(target, name), subset);
  total += subset.length;
  console.log(`${name}: ${(subset.length / 1000).toFixed(1)} kB`);
}
await copyFile(join(packageDir, "LICENSE"), join(target, "OFL.txt"));
if (total > BUDGET_BYTES)
  throw new Error(`Both fonts take ${total} bytes, more than ${BUDGET_BYTES}`);
