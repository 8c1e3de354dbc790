// Compresses the text files of the built site with Brotli and removes the originals (npm run build). The program embeds only the
// compressed files. It makes the other encodings from them at the first request.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const dist = fileURLToPath(new URL("../web/dist", import.meta.url));
const TEXT = /\.(css|js|json|svg|txt|webmanifest)$/;

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !TEXT.test(file) || /(^|\/)\./.test(relative(dist, file))) continue;
  const text = readFileSync(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(text, { params }));
  rmSync(file);
}

rmSync(join(dist, ".vite"), { recursive: true }); // Vite's manifest; the server reads .server/manifest.json
