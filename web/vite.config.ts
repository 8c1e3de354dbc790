import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { type Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = fileURLToPath(new URL(".", import.meta.url));
const backend = process.env.ATELIE_DEV_BACKEND ?? "http://127.0.0.1:8000";

// Builds the site's files for browsers into web/dist, serves them in development (npm run dev), and configures the unit tests.
// vite.server.config.ts builds the script with which the server renders pages.

/** For `npm run dev`: copies the boot data of the page from a running Ateliê server into index.html. */
function bootFromServer(): Plugin {
  const bootTag = /(<script type="application\/json" id="boot">)([\s\S]*?)(<\/script>)/;
  return {
    name: "atelie-boot-from-server",
    apply: "serve",
    transformIndexHtml: {
      order: "pre",
      async handler(html, context) {
        // The requested URL with its query string, because ?lang= selects the language.
        const page = new URL(context.originalUrl ?? "/", backend);
        const response = await fetch(page).catch((cause: unknown) => {
          throw new Error(`No Ateliê server at ${backend}; start one or set ATELIE_DEV_BACKEND`, {
            cause,
          });
        });
        const bootJson = bootTag.exec(await response.text())?.[2];
        if (!bootJson) throw new Error(`The page at ${backend} has no boot data`);
        const boot = JSON.parse(bootJson) as Record<string, unknown>;
        // Requests to the backend go to Vite's origin, as in production, and its proxy forwards them.
        const viteUrl = context.server?.resolvedUrls?.local[0];
        if (viteUrl) boot.apiUrl = new URL(viteUrl).origin;
        const text = JSON.stringify(boot).replaceAll("<", "\\u003c");
        return html.replace(bootTag, (_, open: string, __, close: string) => open + text + close);
      },
    },
  };
}

/**
 * Lets the bundler remove components of the router that the site does not use (forms, prefetching, server modes). The router's code
 * names and wraps each component by an assignment or a call, which the bundler must treat as side effects. So this plugin removes the
 * assignments and marks the calls as pure.
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
        map: null, // the line numbers do not change
      }),
    },
  };
}

/** Removes Tailwind's rules for browsers without @property, which are older than cssTarget. The rules take 2 kB of every page. */
function withoutOldBrowserRules(): Plugin {
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
 * Keeps chunks from loading the entry's style sheet. The server inlines that sheet into each page, but the loader of chunks
 * does not know that: it would fetch the sheet again and insert it after the sheet of the admin area. Chunks therefore name
 * the entry's script, which is always loaded, instead of the sheet.
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

/**
 * Replaces the script and style tags of index.html by marks, which the server fills in for each page
 * (internal/pages/template.go).
 */
function serverTemplate(): Plugin {
  const marks: [tags: RegExp, mark: string][] = [
    [
      /<script type="module"[^>]*><\/script>(?:\s*<link rel="modulepreload"[^>]*>)*/g,
      "<!--scripts-->",
    ],
    [/[ \t]*<link rel="stylesheet"[^>]*>/g, "<!--sheet-->"],
  ];
  return {
    name: "atelie-server-template",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html) =>
        marks.reduce((text, [tags, mark]) => {
          if (text.match(tags)?.length !== 1)
            throw new Error(`index.html has no place for ${mark}`);
          return text.replace(tags, mark);
        }, html),
    },
  };
}

export default defineConfig({
  root: here,
  plugins: [
    react(),
    tailwindcss(),
    bootFromServer(),
    serverTemplate(),
    withoutUnusedRouterParts(),
    withoutEntrySheet(),
    withoutOldBrowserRules(),
  ],
  resolve: {
    alias: {
      "@": fileURLToPath(new URL("src", import.meta.url)),
      // Only tus-js-client imports url-parse. As a CommonJS package it would add its module runtime to the entry.
      "url-parse": `${here}src/lib/upload/native-url.ts`,
    },
  },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsDir: "assets",
    manifest: true,
    target: "es2022",
    // The browsers that Tailwind 4 requires. For older ones every colour would be written twice.
    cssTarget: ["chrome111", "firefox128", "safari16.4"],
    // No file is inlined: the content security policy forbids data: URLs except for pictures, and small files cost little
    // over one connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [`${here}index.html`, `${here}src/start.ts`, `${here}src/styles/documents.css`],
      output: {
        // The entry contains the names of all chunks. Random characters do not compress, so the hashes are short. Six
        // characters are enough for 64 chunks.
        chunkFileNames: "assets/[name]-[hash:7].js",
        codeSplitting: {
          groups: [
            // All code of the first page is one file, because several files compress worse, by 2 kB.
            {
              name: "site",
              tags: ["$initial"],
              test: /^(?!.*\/src\/(start\.ts|styles\/documents\.css)$)/,
            },
            // Code that forms and admin pages share. It is one file, because each further file is a name in the entry.
            {
              name: "form",
              test: /\/components\/form\/(field|text-)|\/icons\/(check|circle-exclamation-point)\./,
            },
            // Visitors open dialogs too. This group comes before "owner", which would otherwise contain the dialog.
            { name: "dialog", test: /\/components\/ui\/dialog\./ },
            // Code that the sign-in page, the session observer and the admin guard share, in one file.
            {
              name: "session",
              test: /\/features\/session\/(api\/|(?!schema|failure-text)[a-z-]+\.ts$|components\/session-observer)|\/lib\/draft(s|-files)\.|\/icons\/eye(-off)?\./,
            },
            {
              name: "owner",
              test: /\/components\/(upload\/|layout\/admin-|ui\/(badge|switch))|\/admin-settings\/(guide-steps|api\/guide|hooks\/)|\/(count-rows|save-file)\.|react-query\/.*[mM]utation/,
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
    pool: "vmThreads", // isolates test files from each other, but loads jsdom only once per worker
    testTimeout: 60_000, // long, so that tests do not fail on a busy machine
    hookTimeout: 60_000, // some hooks import components, which are compiled then
    setupFiles: ["src/test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}", "../scripts/**/*.test.mjs"],
    restoreMocks: true,
    // The build for browsers. Node would resolve to the build for its own streams.
    alias: {
      "tus-js-client": fileURLToPath(
        new URL("../node_modules/tus-js-client/lib.esm/browser/index.js", import.meta.url),
      ),
    },
    server: { deps: { inline: ["tus-js-client"] } },
  },
});
