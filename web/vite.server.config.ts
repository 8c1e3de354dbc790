import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

import type { Page } from "./src/app/page-table.ts";

// Builds the script with which the server renders pages (internal/pages/render), and the page manifest (what the build passes to the
// server: files, and pages with their modules and queries). This build runs after the build of the browser's files (vite.config.ts),
// because it reads these files. The program embeds the manifest and the bytecode of the script (scripts/bytecode.sh), but not the
// script.

const LANGUAGES = ["en", "pt"];
const here = fileURLToPath(new URL(".", import.meta.url));

// Modules that are left out of the script, because only effects and event handlers import them, which never run on the server.
const BROWSER_ONLY = [
  "@supabase/supabase-js",
  "@/features/session/components/session-observer",
  "@/features/session/sign-in",
  "@/components/ui/toast-area",
  "@/components/media/carousel-driver",
  "@/components/media/thumbhash",
  "@/lib/token-refresh",
];

/** The manifest that Vite writes: the file, imports and style sheets of each module of the browser's build. */
type Manifest = Record<string, { file: string; imports?: string[]; css?: string[] }>;

/**
 * Makes the page manifest, which internal/pages reads. It has the URLs of the browser's files and the pages of
 * src/app/page-table.ts. `script` is the built script. This function runs the script to get the page table.
 */
function manifestOf(script: string): string {
  const text = readFileSync(`${here}dist/.vite/manifest.json`, "utf8");
  const modules = JSON.parse(text) as Manifest;
  const find = (name: string) => {
    const found = modules[name];
    if (!found) throw new Error(`The build contains no ${name}`);
    return found;
  };
  const urlOf = (name: string) => `/${find(name).file}`;
  const { imports = [], css = [] } = find("index.html");
  if (css.length !== 1) throw new Error("The entry must have one style sheet");
  /** Returns the URLs of the modules and all their imports, except modules that the entry has loaded. */
  const urlsToLoad = (names: string[]) => {
    // The set grows during the loop, so that the loop visits imports of imports too.
    const all = new Set(names);
    const loaded = ["index.html", ...imports];
    for (const name of all)
      for (const imported of find(name).imports ?? [])
        if (!loaded.includes(imported)) all.add(imported);
    return [...all].map(urlOf);
  };
  const context = createContext({});
  runInContext(script, context);
  const pages = runInContext("pageTable()", context) as Page[];
  const html = readFileSync(`${here}index.html`, "utf8");
  return JSON.stringify({
    start: urlOf("src/start.ts"),
    scripts: ["index.html", ...imports].map(urlOf),
    sheet: `/${css[0]}`,
    documents: urlOf("src/styles/documents.css"),
    fonts: [...html.matchAll(/<link rel="preload" href="([^"]+)" as="font"/g)].map(
      ([, font]) => font,
    ),
    languages: Object.fromEntries(
      LANGUAGES.map((language) => [language, urlsToLoad([`src/locales/${language}.json`])]),
    ),
    pages: pages.map(({ modules: names, ...page }) => ({
      ...page,
      modules: urlsToLoad([...names]),
    })),
  });
}

/** Writes the built script into dist-server, which is not embedded, and the manifest in its place. */
function serverFiles(): Plugin {
  return {
    name: "atelie-server-files",
    generateBundle(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type !== "chunk") continue;
        delete bundle[name];
        this.emitFile({ type: "asset", fileName: "manifest.json", source: manifestOf(file.code) });
        mkdirSync(`${here}dist-server`, { recursive: true });
        writeFileSync(`${here}dist-server/${file.fileName}`, file.code);
      }
    },
  };
}

/** Builds the site's components as one script. The server does not serve the output folder, because its name begins with a dot. */
export default defineConfig({
  root: here,
  plugins: [react(), serverFiles()],
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
