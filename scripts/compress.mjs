// Puts compressed forms beside the built site's texts, as small as they get, for the program to send as they are. zstd is
// left out: whoever takes it takes brotli, which is smaller here.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = fileURLToPath(new URL("../web/dist", import.meta.url));
const TEXT = /\.(css|js|json|svg|txt|webmanifest)$/;

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !TEXT.test(file) || file.includes("/.vite/")) continue;
  const text = readFileSync(file);
  const forms = {
    ".br": brotliCompressSync(text, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      },
    }),
    ".gz": gzipSync(text, { level: constants.Z_BEST_COMPRESSION }),
  };
  for (const [suffix, form] of Object.entries(forms)) {
    if (form.length < text.length) writeFileSync(file + suffix, form);
  }
}
