// Weighs the JavaScript of the home page against web/budget.json, and says which library weighs what. It builds the site
// in memory: the manifest tells which files the page needs, the source maps whose each byte is.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "vite";

const ENTRY = "index.html";
const LANGUAGES = ["src/locales/en.json", "src/locales/pt.json"];
// Follows at once by itself; everything else waits for the visitor.
const FOLLOWING = ["src/features/contact/components/contact-form.tsx"];

/**
 * The files that a list of modules needs, the statically imported ones included.
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

/** Whose code a source is: a package, the texts, or the site's own. */
export function ownerOf(source) {
  if (!source || source.startsWith("\0")) return "glue";
  const packages = [...source.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)];
  if (packages.length > 0) return packages.at(-1)[1];
  return source.includes("src/") ? "own code" : "glue";
}

/** Sorts the minified text of a chunk by owner. */
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

/** @returns {string[]} what is above the budget, in words */
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
  const sizeOf = (names) =>
    sum([...filesOf(manifest, names)].map((file) => weigh(built.get(file).code)));

  // Whichever language is heavier: a visitor has one of them.
  const [language] = LANGUAGES.toSorted((a, b) => sizeOf([b]).gzip - sizeOf([a]).gzip);
  const needed = [ENTRY, language];
  const sizes = { home: sizeOf(needed), homeWithForm: sizeOf([...needed, ...FOLLOWING]) };
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

  const problems = breaches(sizes, budget);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
