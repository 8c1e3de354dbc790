import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { type Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = fileURLToPath(new URL(".", import.meta.url));
const backend = process.env.ATELIE_DEV_BACKEND ?? "http://127.0.0.1:8000";

/** In development the page's boot data comes from the running server's own home page. */
function bootFromServer(): Plugin {
  const element = /(<script type="application\/json" id="boot">)([\s\S]*?)(<\/script>)/;
  return {
    name: "atelie-boot-from-server",
    apply: "serve",
    transformIndexHtml: {
      order: "pre",
      async handler(html, context) {
        // The address as asked for: ?lang= decides the language.
        const page = new URL(context.originalUrl ?? "/", backend);
        const response = await fetch(page).catch((cause: unknown) => {
          throw new Error(`No Ateliê server at ${backend}; start one or set ATELIE_DEV_BACKEND`, {
            cause,
          });
        });
        const found = element.exec(await response.text())?.[2];
        if (!found) throw new Error(`The page at ${backend} carries no boot data`);
        const boot = JSON.parse(found) as Record<string, unknown>;
        // Calls go to this origin and on through the proxy, as in production.
        const address = context.server?.resolvedUrls?.local[0];
        if (address) boot.apiUrl = new URL(address).origin;
        const text = JSON.stringify(boot).replaceAll("<", "\\u003c");
        return html.replace(element, (_, open: string, __, close: string) => open + text + close);
      },
    },
  };
}

/**
 * The router wraps and names its components by calls and assignments, which hold every one of them in the
 * bundle. Without these, those that nobody uses (forms, prefetching, server modes) fall away.
 */
function withoutUnusedRouterParts(): Plugin {
  return {
    name: "atelie-without-unused-router-parts",
    apply: "build",
    transform: {
      filter: { id: /\/node_modules\/react-router\/.*\.m?js$/ },
      handler: (code) => ({
        code: code
          .replace(/^\w+\.displayName = "\w+";$/gm, "")
          .replace(/^(const \w+ = )(\S+\.forwardRef\()/gm, "$1/* @__PURE__ */ $2"),
        map: null, // every line stays where it was
      }),
    },
  };
}

/** What Tailwind adds for browsers without @property, which are older than cssTarget: 2 kB in every page. */
function withoutOldBrowsers(): Plugin {
  return {
    name: "atelie-without-old-browsers",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const file of Object.values(bundle))
          if (file.type === "asset" && file.fileName.endsWith(".css"))
            file.source = String(file.source).replace(
              /@layer properties\{@supports[^{]+\{\*,[^{}]*\{[^{}]*\}\}\}/,
              "",
            );
      },
    },
  };
}

/**
 * The server writes the entry's sheet into each page, where the loader of chunks does not find it: it would fetch the
 * sheet once more, and put it behind the owner's. Chunks name the entry itself instead, which is always there.
 */
function withoutEntrySheet(): Plugin {
  return {
    name: "atelie-without-entry-sheet",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
        const entry = chunks.find((chunk) => chunk.isEntry && chunk.viteMetadata?.importedCss.size);
        for (const sheet of entry?.viteMetadata?.importedCss ?? [])
          for (const chunk of chunks)
            chunk.code = chunk.code.replaceAll(`"${sheet}"`, `"${entry?.fileName}"`);
      },
    },
  };
}

export default defineConfig({
  root: here,
  plugins: [
    react(),
    tailwindcss(),
    bootFromServer(),
    withoutUnusedRouterParts(),
    withoutEntrySheet(),
    withoutOldBrowsers(),
  ],
  resolve: {
    alias: {
      "@": fileURLToPath(new URL("src", import.meta.url)),
      // Only tus-js-client asks for it, and brings a runtime for old modules with it into the first download.
      "url-parse": `${here}src/lib/upload/native-url.ts`,
    },
  },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsDir: "assets",
    manifest: true,
    target: "es2022",
    // What Tailwind 4 needs anyway; for older ones every colour would be written twice.
    cssTarget: ["chrome111", "firefox128", "safari16.4"],
    // The policy allows no inline sources, and small files are cheap over one connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [`${here}index.html`, `${here}src/start.ts`],
      output: {
        // Every name stands in the entry, and what is random in it compresses to nothing.
        chunkFileNames: "assets/[name]-[hash:6].js",
        codeSplitting: {
          groups: [
            // What the first page needs comes as one file: cut into pieces it compresses worse, by 2 kB.
            { name: "site", tags: ["$initial"], test: /^(?!.*\/src\/start\.ts$)/ },
            // What forms and owner's pages share: every file apart is one more name in the entry.
            {
              name: "form",
              test: /\/components\/form\/(field|text-)|\/icons\/circle-exclamation-point\.|react-query\/.*[mM]utation/,
            },
            // Before the owner's, which would take what they share into itself: visitors open dialogs too.
            { name: "dialog", test: /\/components\/ui\/dialog\./ },
            {
              name: "owner",
              test: /\/components\/(upload\/|layout\/admin-|ui\/(badge|switch))/,
            },
            // Shared by sign-in page, session and guard; apart, the entry would have to name a file for each part.
            {
              name: "session",
              test: /\/features\/session\/(api\/|(?!schema|failure-text)[a-z-]+\.ts$|components\/session-keeper)/,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/auth/v1", "/rest/v1", "/storage/v1", "/functions/v1", "/realtime/v1"].map((path) => [
        path,
        { target: backend, changeOrigin: false, ws: path.startsWith("/realtime") },
      ]),
    ),
  },
  test: {
    environment: "jsdom",
    setupFiles: ["src/test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}", "../scripts/**/*.test.mjs"],
    restoreMocks: true,
    // What browsers get; Node would be given the build for its own streams.
    alias: {
      "tus-js-client": fileURLToPath(
        new URL("../node_modules/tus-js-client/lib.esm/browser/index.js", import.meta.url),
      ),
    },
    server: { deps: { inline: ["tus-js-client"] } },
  },
});
