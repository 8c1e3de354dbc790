// Checks the imports of web/src against the rules in docs/architecture.md. Each layer may import only from layers before it:
// lib → components → features → app. `node scripts/check-imports.mjs` prints every violation, and exits with 1 if there are any.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vite";

const LAYERS = ["lib", "components", "features", "app"];
// The modules with which the builds begin. No other module may import them.
const ENTRIES = ["start.ts", "entry-client.tsx", "entry-server.tsx"];
// Globals that the server's JavaScript engine lacks.
const BROWSER_GLOBALS = new Set([
  "window",
  "document",
  "localStorage",
  "sessionStorage",
  "navigator",
  "matchMedia",
]);
// Packages and folders that the first download of the home page must not contain.
const LAZY_PACKAGES = [
  /^@supabase\//,
  /^react-hook-form$/,
  /^@hookform\//,
  /^zod($|\/)/,
  /^sonner$/,
  /^@dnd-kit\//,
  /^tus-js-client$/,
];
const LAZY_FOLDERS = /^(features\/admin-|app\/routes\/(admin|auth)\/|components\/upload\/)/;

/**
 * Checks a set of files and returns a line for each violation.
 * @param {Map<string, string>} sources path below web/src, with forward slashes → text
 * @returns {string[]}
 */
export function check(sources) {
  const problems = [];
  const modules = new Map();
  for (const [path, text] of sources) {
    if (!/\.tsx?$/.test(path) || path.endsWith(".d.ts")) continue;
    const tree = parseAst(text, {
      lang: path.endsWith(".tsx") ? "tsx" : "ts",
      sourceType: "module",
    });
    const imports = importsOf(tree).map((found) => ({
      ...found,
      target: resolve(path, found.source, sources),
    }));
    modules.set(path, imports);

    problems.push(...directionProblems(path, imports), ...barrelProblems(path, imports));
    if (!isTest(path) && !ENTRIES.includes(path)) {
      for (const name of browserGlobalsAtModuleScope(tree)) {
        problems.push(
          `${path}: touches ${name} while the module loads; use an effect or a handler`,
        );
      }
    }
  }
  problems.push(...eagerProblems(modules), ...cycleProblems(modules));
  return problems.sort();
}

const isTest = (path) => path.startsWith("test/") || /\.test\.tsx?$/.test(path);

/** Returns the layer of a path and, within features, the feature; null outside the layers. */
function layerOf(path) {
  const [layer, name] = path.split("/");
  if (!LAYERS.includes(layer)) return null;
  return { layer, level: LAYERS.indexOf(layer), feature: layer === "features" ? name : null };
}

/** Reports imports of later layers, of other features, of entries and of test helpers, and those that name no file. */
function directionProblems(path, imports) {
  const problems = [];
  const from = layerOf(path);
  for (const { source, target } of imports) {
    if (target === null) continue; // an npm package
    if (target === undefined) {
      problems.push(`${path}: imports ${source}, which does not exist`);
      continue;
    }
    if (target.startsWith("test/") && !isTest(path)) {
      problems.push(`${path}: imports the test helper ${target}`);
    }
    if (ENTRIES.includes(target)) problems.push(`${path}: imports the entry ${target}`);
    const to = layerOf(target);
    if (!from || !to) continue;
    if (to.level > from.level) {
      problems.push(`${path}: ${from.layer} must not import ${to.layer} (${target})`);
    } else if (from.feature && to.feature && from.feature !== to.feature) {
      problems.push(
        `${path}: feature ${from.feature} must not import feature ${to.feature} (${target})`,
      );
    }
    if (path.startsWith("app/routes/public/") && LAZY_FOLDERS.test(target)) {
      problems.push(`${path}: a public route must not import ${target}`);
    }
  }
  return problems;
}

/** Reports files whose only purpose is to re-export others. */
function barrelProblems(path, imports) {
  if (/(^|\/)index\.tsx?$/.test(path))
    return [`${path}: no barrel files; import from the file itself`];
  return imports
    .filter(({ reexport, target }) => reexport && target)
    .map(({ target }) => `${path}: re-exports ${target}; import it where it is needed`);
}

/** Follows the static imports from the browser's entry, which make up the first download, and reports forbidden ones. */
function eagerProblems(modules) {
  const problems = new Set();
  const seen = new Map([["entry-client.tsx", null]]);
  for (const path of seen.keys()) {
    for (const { source, target, dynamic, typeOnly } of modules.get(path) ?? []) {
      if (dynamic || typeOnly) continue;
      const refused =
        target === null
          ? LAZY_PACKAGES.some((name) => name.test(source))
          : target && LAZY_FOLDERS.test(target);
      if (refused) {
        problems.add(
          `${path}: brings ${target ?? source} into the first download (${trail(seen, path)})`,
        );
      } else if (target && !seen.has(target)) {
        seen.set(target, path);
      }
    }
  }
  return [...problems];
}

/** Reports cyclic imports. Imports of types and dynamic imports count too: a reader needs all modules of a cycle at once. */
function cycleProblems(modules) {
  const problems = [];
  const finished = new Set();
  const follow = (path, steps) => {
    if (finished.has(path)) return;
    const start = steps.indexOf(path);
    if (start >= 0) {
      problems.push(`${path}: circle of imports (${[...steps.slice(start), path].join(" → ")})`);
      return;
    }
    for (const { target } of modules.get(path) ?? []) if (target) follow(target, [...steps, path]);
    finished.add(path);
  };
  for (const path of [...modules.keys()].sort()) follow(path, []);
  return problems;
}

/** Returns the imports that lead from the entry to a module, as text. */
function trail(seen, path) {
  const steps = [];
  for (let module = path; module; module = seen.get(module)) steps.unshift(module);
  return steps.join(" → ");
}

/** Returns the path below web/src that an import names, null for an npm package, undefined if the file does not exist. */
function resolve(path, source, sources) {
  let base;
  if (source.startsWith("@/")) base = source.slice(2);
  else if (source.startsWith(".")) base = posix.join(dirname(path).replaceAll("\\", "/"), source);
  else return null;
  return ["", ".ts", ".tsx", "/index.ts", "/index.tsx"]
    .map((ending) => base + ending)
    .find((candidate) => sources.has(candidate));
}

/** Returns the imports and re-exports of a module. */
function importsOf(tree) {
  const found = [];
  walk(tree, 0, (node) => {
    const typeOnly = node.importKind === "type" || node.exportKind === "type";
    switch (node.type) {
      case "ImportDeclaration":
        found.push({
          source: node.source.value,
          // An import with only `type` names is removed by the compiler too.
          typeOnly:
            typeOnly ||
            (node.specifiers.length > 0 &&
              node.specifiers.every((name) => name.importKind === "type")),
        });
        break;
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        if (node.source) found.push({ source: node.source.value, typeOnly, reexport: true });
        break;
      case "ImportExpression":
        if (typeof node.source.value === "string") {
          found.push({ source: node.source.value, dynamic: true });
        }
        break;
    }
  });
  return found;
}

/** Returns the browser's globals that a module uses while it loads, when the server may not have them. */
function browserGlobalsAtModuleScope(tree) {
  const found = new Set();
  walk(tree, 0, (node, depth, parent, key) => {
    if (node.type !== "Identifier" || depth > 0 || !BROWSER_GLOBALS.has(node.name)) return;
    const isPropertyName =
      (parent.type === "MemberExpression" && key === "property" && !parent.computed) ||
      (key === "key" && !parent.computed);
    if (!isPropertyName) found.add(node.name);
  });
  return found;
}

const isFunction = (node) =>
  /Function(Expression|Declaration)$|^ArrowFunctionExpression$/.test(node.type);

/** Calls visit for every node of code (not of types), with the number of functions around the node. */
function walk(node, depth, visit, parent = null, key = null) {
  if (node.type.startsWith("TS") && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
  visit(node, depth, parent, key);
  // A function that is called where it is written runs while the module loads; other functions do not.
  const runsNow = parent?.type === "CallExpression" && key === "callee";
  const runsLater =
    (isFunction(node) && !runsNow) || (node.type === "PropertyDefinition" && !node.static);
  const inner = runsLater ? depth + 1 : depth;
  for (const [name, value] of Object.entries(node)) {
    if (name === "typeAnnotation" || name === "parent") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child.type === "string") walk(child, inner, visit, node, name);
    }
  }
}

/** Reads the files below `root` by their relative paths. Files that are no TypeScript have the text "". */
function readSources(root) {
  const sources = new Map();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = relative(root, file).replaceAll("\\", "/");
    sources.set(path, /\.tsx?$/.test(path) ? readFileSync(file, "utf8") : "");
  }
  return sources;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sources = readSources(fileURLToPath(new URL("../web/src", import.meta.url)));
  const problems = check(sources);
  for (const problem of problems) console.error(`web/src/${problem}`);
  if (problems.length > 0) process.exit(1);
  console.log(`imports: ${sources.size} files, all in order`);
}
