// Every statement listed in docs/contracts names the test that proves it, as `file › test` or
// `file › describe › test`. This fails when a named test does not exist, is skipped, or a row names none. What toasts,
// questions and errors say has a row for each text of the catalogues, with the words themselves in both languages.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vite";

const SEPARATOR = " › ";
const STARTERS = new Set(["test", "it", "describe", "suite"]);
const SKIPPING = new Set(["skip", "todo", "fixme"]);
// Keys of what the site says when something went well or wrong, and of what it asks; beside those that toasts name.
const SAID = [
  /\.(?:toast|error)\./,
  /\.(?:error|failed|unexpected)$/,
  /(?:Error|Failed|Confirm|Question)$/,
  /^upload\.(?:failed|onlyAdmin|unauthorized|wrongType|heic|tooLarge)/,
];
const HARMLESS = new Set(["describe", "each", "for", "only", "concurrent", "serial", "parallel"]);

/**
 * Checks one document of statements.
 * @param {string} text the Markdown
 * @param {(file: string) => string | undefined} read a file's text, or undefined when there is none
 * @returns {{ problems: string[], statements: number, references: number }}
 */
export function check(text, read) {
  const problems = [];
  const ids = new Set();
  const known = new Map();
  let statements = 0;
  let references = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const at = `line ${index + 1}`;
    const id = /^\|\s*([A-Z]\w*(?:-\w+)+)\s*\|/.exec(line)?.[1];
    const named = [...line.matchAll(/`([^`]+)`/g)]
      .map(([, span]) => span.replaceAll("\\|", "|"))
      .filter((span) => span.includes(SEPARATOR));
    references += named.length;
    if (id) {
      statements++;
      if (ids.has(id)) problems.push(`${at}: ${id} is listed twice`);
      ids.add(id);
      if (named.length === 0) problems.push(`${at}: ${id} names no test`);
    }
    for (const reference of named) {
      const [file, ...path] = reference.split(SEPARATOR);
      if (!known.has(file)) known.set(file, testsOf(file, read(file)));
      const problem = lookUp(known.get(file), path);
      if (problem) problems.push(`${at}: ${reference}: ${problem}`);
    }
  }
  if (statements === 0) problems.push("no statement is listed");
  return { problems, statements, references };
}

/**
 * Checks that every text of a kind has a row `| id | \`key\` | English | Portuguese | tests |` with its words.
 * @param {string} text the Markdown
 * @param {{ en: Record<string, string>, pt: Record<string, string> }} catalogues
 * @param {Iterable<string>} sources the site's own code, whose toasts name further texts
 * @returns {{ problems: string[], words: number }}
 */
export function checkWords(text, catalogues, sources) {
  const problems = [];
  const listed = new Set();
  for (const [index, line] of text.split("\n").entries()) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    const key = /^`([\w.-]+)`$/.exec(cells[2] ?? "")?.[1];
    if (!key) continue;
    const at = `line ${index + 1}`;
    if (listed.has(key)) problems.push(`${at}: ${key} is listed twice`);
    listed.add(key);
    for (const [language, words] of [
      ["en", cells[3]],
      ["pt", cells[4]],
    ])
      if (catalogues[language][key] === undefined)
        problems.push(`${at}: no text ${key} (${language})`);
      else if (catalogues[language][key] !== words)
        problems.push(`${at}: ${key} says "${catalogues[language][key]}" (${language})`);
  }
  const wanted = new Set(
    Object.keys(catalogues.en).filter((key) => SAID.some((kind) => kind.test(key))),
  );
  for (const source of sources)
    for (const [toast] of source.matchAll(/Toast\(\s*\{.*?\}\s*\)/gs))
      for (const [, key] of toast.matchAll(/"([a-z]\w*(?:\.\w+)+)"/g)) wanted.add(key);
  for (const key of wanted) if (!listed.has(key)) problems.push(`${key} has no row`);
  return { problems, words: listed.size };
}

function lookUp(tests, path) {
  if (!tests) return "the file does not exist";
  // Between the file and the test any of the surrounding describes may be left out.
  const found = tests.filter((test) => {
    const rest = [...path];
    if (test.path.at(-1) !== rest.at(-1)) return false;
    for (const part of test.path) if (part === rest[0]) rest.shift();
    return rest.length === 0;
  });
  if (found.length === 0) return "the test does not exist";
  if (found.length > 1) return "several tests have this name; put the describe before it";
  return found[0].skipped ? "the test is skipped" : undefined;
}

function testsOf(file, text) {
  if (text === undefined) return undefined;
  if (file.endsWith(".go")) {
    return [...text.matchAll(/^func ((?:Test|Fuzz)\w*)\(/gm)].map(([, name]) => ({ path: [name] }));
  }
  const lang = file.endsWith(".tsx") ? "tsx" : file.endsWith(".ts") ? "ts" : "js";
  const found = [];
  walk(parseAst(text, { lang, sourceType: "module" }), text, [], false, found);
  return found;
}

function walk(node, text, path, skipped, found) {
  let inner = path;
  let off = skipped;
  const call = node.type === "CallExpression" && callOf(node, text);
  if (call) {
    inner = [...path, call.title];
    off ||= call.skipped;
    found.push({ path: inner, skipped: off });
  }
  for (const [key, value] of Object.entries(node)) {
    if (key === "parent") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child.type === "string") walk(child, text, inner, off, found);
    }
  }
}

/** The title of test("…"), describe.each(…)("…") and the like; undefined for any other call. */
function callOf({ callee, arguments: args }, text) {
  const title = titleOf(args[0], text);
  // test(title, body); test.skip(condition, reason) inside a body has no function.
  const last = args.at(-1);
  if (title === undefined || !/Function/.test(last?.type ?? "")) return undefined;
  let head = callee;
  let skips = false;
  for (;;) {
    if (head.type === "CallExpression") head = head.callee;
    else if (head.type === "TaggedTemplateExpression") head = head.tag;
    else if (head.type === "MemberExpression" && !head.computed) {
      const { name } = head.property;
      if (SKIPPING.has(name)) skips = true;
      else if (!HARMLESS.has(name)) return undefined;
      head = head.object;
    } else break;
  }
  if (head.type !== "Identifier" || !STARTERS.has(head.name)) return undefined;
  return { title, skipped: skips };
}

/** A template's title is written in the documents as in the source: `${path} fits`. */
function titleOf(node, text) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return text.slice(node.start + 1, node.end - 1);
  return undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const read = (file) =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined;
  let broken = 0;
  for (const name of readdirSync(join(root, "docs/contracts")).sort()) {
    if (!name.endsWith(".md")) continue;
    const path = `docs/contracts/${name}`;
    const { problems, statements, references } = check(read(path), read);
    for (const problem of problems) console.error(`${path}, ${problem}`);
    broken += problems.length;
    console.log(`${path}: ${statements} statements, ${references} references to tests`);
  }
  const web = join(root, "web/src");
  const catalogue = (language) =>
    Object.assign(
      {},
      ...["", "admin/", "work/"].map((part) =>
        JSON.parse(readFileSync(join(web, `locales/${part}${language}.json`), "utf8")),
      ),
    );
  const sources = readdirSync(web, { recursive: true })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
    .map((name) => readFileSync(join(web, name), "utf8"));
  const { problems, words } = checkWords(
    read("docs/contracts/admin.md"),
    { en: catalogue("en"), pt: catalogue("pt") },
    sources,
  );
  for (const problem of problems) console.error(`docs/contracts/admin.md, ${problem}`);
  broken += problems.length;
  console.log(`docs/contracts/admin.md: ${words} texts that are said or asked`);
  if (broken > 0) process.exit(1);
}
