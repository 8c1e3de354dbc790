import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

// Loaded by effects and handlers alone, which never run on the server.
const BROWSER_ONLY = [
  "@supabase/supabase-js",
  "@/features/session/components/session-keeper",
  "@/features/session/sign-in",
  "@/components/ui/toast-area",
  "@/components/media/carousel-driver",
  "@/components/media/thumbhash",
  "@/lib/rights",
];

/** The binary carries it packed; it is unpacked once, when the engine starts. */
function packed(): Plugin {
  return {
    name: "atelie-packed",
    generateBundle(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type !== "chunk") continue;
        delete bundle[name];
        const source = gzipSync(file.code, { level: 9 });
        this.emitFile({ type: "asset", fileName: `${file.fileName}.gz`, source });
      }
    },
  };
}

/** The same components as one script for the engine in internal/pages/render; the dot keeps it from being served. */
export default defineConfig({
  root: here,
  plugins: [react(), packed()],
  publicDir: false,
  resolve: { alias: { "@": fileURLToPath(new URL("src", import.meta.url)) } },
  define: { "process.env.NODE_ENV": '"production"' },
  ssr: { target: "webworker", noExternal: true },
  build: {
    ssr: "src/entry-server.tsx",
    outDir: "dist/.server",
    emptyOutDir: true,
    target: "es2022",
    minify: true,
    rolldownOptions: {
      external: BROWSER_ONLY,
      output: { format: "iife", entryFileNames: "render.js", codeSplitting: false },
    },
  },
});
