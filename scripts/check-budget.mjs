// Compares the sizes of the home page's JavaScript, style sheet and fonts with the limits in web/budget.json, and prints the size of
// the JavaScript by library (npm run budget). It builds the site in memory. The manifest of the build lists the files that the page
// needs. The source maps say from which library each byte comes. test/e2e/weight.spec.ts measures the page in the running program.
import { readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, matchesGlob, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "vite";

// These paths are keys of the manifest, relative to web.
const ENTRY = "index.html";
const START = "src/start.ts"; // the first script of a page; it loads the entry later
const LANGUAGES = ["src/locales/en.json", "src/locales/pt.json"];
// Modules that the home page loads shortly after its start. All other modules load when the visitor needs them.
const LOADED_SOON = ["src/features/contact/components/contact-panel.tsx"];

/**
 * Returns the files that a list of modules needs, including those of statically imported modules.
 * @param {Record<string, { file: string, imports?: string[] }>} manifest
 * @param {string[]} names keys of the manifest
 */
export function filesOf(manifest, names) {
  const seen = new Set(names);
  for (const name of seen) {
    if (!manifest[name]) throw new Error(`The manifest does not know ${name}`);
    for (const imported of manifest[name].imports ?? []) seen.add(imported);
  }
  return new Set([...seen].map((name) => manifest[name].file));
}

/**
 * Returns all files of components that are styled by the entry's style sheet alone. Modules with another sheet, such as admin
 * pages, are left out.
 * @param {Record<string, { file: string, imports?: string[], dynamicImports?: string[], css?: string[] }>} manifest
 */
export function visitorFiles(manifest) {
  const seen = new Set([ENTRY]);
  for (const name of seen) {
    const { imports = [], dynamicImports = [] } = manifest[name];
    for (const imported of [...imports, ...dynamicImports])
      if (!manifest[imported].css) seen.add(imported);
  }
  return new Set([...seen].map((name) => manifest[name].file));
}

/**
 * Reports whether Tailwind scans the file `source` for a style sheet with the text `sheet`. The @source lines of the sheet
 * name files relative to its folder.
 * @param {string} source a path from the same root as `folder`
 */
export function isSourceOf(sheet, folder, source) {
  let isScanned = false; // by the last line that matches the file
  for (const [, not, glob] of sheet.matchAll(/^@source (not )?"([^"]+)";$/gm))
    for (const pattern of alternatives(normalize(join(folder, glob))))
      if (matchesGlob(source, pattern)) isScanned = !not;
  return isScanned;
}

/** Expands {a,b}c to ac and bc, because Node's own expansion loses a star after the braces. */
function alternatives(glob) {
  const found = /\{([^}]+)\}/.exec(glob);
  if (!found) return [glob];
  return found[1].split(",").flatMap((part) => alternatives(glob.replace(found[0], part)));
}

/** Returns the package of a source, "own code" for the site's own, or "glue" for code of the bundler. */
export function ownerOf(source) {
  if (!source || source.startsWith("\0")) return "glue";
  const packages = [...source.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)];
  if (packages.length > 0) return packages.at(-1)[1];
  return source.includes("src/") ? "own code" : "glue";
}

/** Adds the minified text of a chunk to `into`, by the owner of each character. */
export function splitByOwner(code, map, into = new Map()) {
  if (!map) return into.set("glue", (into.get("glue") ?? "") + code);
  const sources = new SourceMap(map);
  code.split("\n").forEach((line, row) => {
    for (let column = 0; column < line.length; column++) {
      const owner = ownerOf(sources.findEntry(row, column).originalSource);
      into.set(owner, (into.get(owner) ?? "") + line[column]);
    }
  });
  return into;
}

/** @returns {string[]} a line for each size that exceeds the budget */
export function breaches(sizes, budget) {
  return Object.entries(budget).flatMap(([name, limits]) => {
    if (!sizes[name]) return [`${name}: nothing is measured under this name`];
    return Object.entries(limits)
      .filter(([coding, limit]) => !(sizes[name][coding] <= limit))
      .map(([coding, limit]) => `${name}: ${sizes[name][coding]} bytes ${coding}, budget ${limit}`);
  });
}

const weigh = (text) => ({
  min: Buffer.byteLength(text),
  gzip: gzipSync(text, { level: 9 }).length,
  brotli: brotliCompressSync(text).length,
});
const sum = (weights) =>
  weights.reduce((a, b) => ({
    min: a.min + b.min,
    gzip: a.gzip + b.gzip,
    brotli: a.brotli + b.brotli,
  }));
const row = (name, { min, gzip, brotli }) =>
  `${name.padEnd(34)}${String(min).padStart(9)}${String(gzip).padStart(9)}${String(brotli).padStart(9)}`;

/**
 * Returns a line for each component of public pages that site.css does not scan. Such a component has styles only by accident,
 * if other components use the same classes.
 */
function unstyled(manifest, built, web) {
  const folder = fileURLToPath(new URL("src/styles", web));
  const sheet = readFileSync(join(folder, "site.css"), "utf8");
  const dist = fileURLToPath(new URL("dist/assets", web));
  const components = [...visitorFiles(manifest)]
    .flatMap((file) => built.get(file).map?.sources ?? [])
    .filter((source) => source.endsWith(".tsx") && !source.includes("node_modules"))
    .map((source) => join(dist, source))
    .filter((source) => readFileSync(source, "utf8").includes("className"));
  if (components.length < 20) throw new Error("The source maps name too few components");
  return components
    .filter((source) => !isSourceOf(sheet, folder, source))
    .map((source) => `${source} has classes that styles/site.css does not scan`);
}

async function main() {
  const web = new URL("../web/", import.meta.url);
  const budget = JSON.parse(readFileSync(new URL("budget.json", web), "utf8"));
  const { output } = await build({
    configFile: fileURLToPath(new URL("vite.config.ts", web)),
    logLevel: "error",
    build: { write: false, sourcemap: "hidden" },
  });
  const built = new Map(output.map((file) => [file.fileName, file]));
  const manifest = JSON.parse(built.get(".vite/manifest.json").source);
  if (manifest[START].imports?.length) throw new Error(`${START} waits for what it imports`);
  const sizeOf = (names) =>
    sum([...filesOf(manifest, names)].map((file) => weigh(built.get(file).code)));

  // A visitor loads the texts of one language. The larger one counts.
  const [language] = LANGUAGES.toSorted((a, b) => sizeOf([b]).gzip - sizeOf([a]).gzip);
  const needed = [START, ENTRY, language];
  const [sheet, ...others] = manifest[ENTRY].css;
  if (!sheet || others.length > 0) throw new Error("The entry must have one sheet");
  const fonts = readdirSync(new URL("public/fonts/", web)).filter((name) => name.endsWith("2"));
  const sizes = {
    home: sizeOf(needed),
    homeWithForm: sizeOf([...needed, ...LOADED_SOON]),
    sheet: weigh(built.get(sheet).source),
    // WOFF2 files are already compressed.
    fonts: {
      woff2: fonts
        .map((name) => readFileSync(new URL(`public/fonts/${name}`, web)).length)
        .reduce((a, b) => a + b),
    },
  };
  const owners = new Map();
  for (const file of filesOf(manifest, needed)) {
    const { code, map } = built.get(file);
    if (file === manifest[language].file) owners.set("texts", code);
    else if (map) splitByOwner(code, map, owners);
    // The bundler's own helpers have no source.
    else owners.set("glue", (owners.get("glue") ?? "") + code);
  }

  console.log(
    row("JavaScript of the home page, bytes", { min: "min", gzip: "gzip", brotli: "brotli" }),
  );
  const weights = [...owners].map(([owner, text]) => [owner, weigh(text)]);
  for (const [owner, weight] of weights.sort(([, a], [, b]) => b.gzip - a.gzip))
    console.log(row(`  ${owner}`, weight));
  console.log(row("before it is interactive", sizes.home));
  console.log(row("with the contact form", sizes.homeWithForm));

  console.log(row("the sheet in each page", sizes.sheet));
  console.log(`fonts: ${sizes.fonts.woff2} bytes`);

  const problems = [...breaches(sizes, budget), ...unstyled(manifest, built, web)];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
