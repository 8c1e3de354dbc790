// Replaces the built site's texts by brotli's form of them, as small as they get: the program carries nothing twice, and
// makes the other forms of what somebody asks for.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const dist = fileURLToPath(new URL("../web/dist", import.meta.url));
const TEXT = /\.(css|js|json|svg|txt|webmanifest)$/;

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !TEXT.test(file) || file.includes("/.vite/")) continue;
  const text = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(text, { params }));
  rmSync(file);
}
