// Checks that each statement of docs/contracts has a test that proves it. A statement is a list item: `- **id** statement`.
// The title of its test begins with the ids of all statements that it proves ("S2-nav-1 S2-nav-3: the bar …"). A Go test
// names them in its comment ("// Proves S2-nav-1, S2-nav-3."). The check fails when a statement has no test that runs, or a
// test names an unknown id. It also fails when no test looks for the text of a toast, a question or an error, by its key or
// by its words in one language. The documents are for people to read, so their size has a limit.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vite";

// The functions that begin a test or a group of tests.
const STARTERS = new Set(["test", "it", "describe", "suite"]);
// Methods of those functions that skip the test.
const SKIPPING = new Set(["skip", "todo", "fixme"]);
// Methods of those functions that change only how the test runs.
const HARMLESS = new Set(["describe", "each", "for", "only", "concurrent", "serial", "parallel"]);
// Patterns of the keys of texts that a test must look for: messages of success and failure, and questions. The check also
// demands a test for each key that a toast uses.
const MESSAGE_KEYS = [
  /\.(?:toast|error)\./,
  /\.(?:error|failed|unexpected)$/,
  /(?:Error|Failed|Confirm|Question)$/,
  /^upload\.(?:failed|onlyAdmin|unauthorized|wrongType|heic|tooLarge)/,
];
// The limit of all documents together, in bytes.
const MAX_BYTES = 150_000;
const ID = String.raw`[A-Z]\w*(?:-\w+)+`;
const IDS_OF_A_TITLE = new RegExp(`^(${ID}(?: ${ID})*): `);
const IDS_OF_A_COMMENT = new RegExp(
  String.raw`^// Proves (${ID}(?:,\s(?://\s)?${ID})*)\.\n(?://.*\n)*func (?:Test|Fuzz)`,
  "gm",
);

/**
 * Compares the statements of the documents with the tests.
 * @param {Map<string, string>} documents path → Markdown
 * @param {Map<string, string>} tests path → source of every test file
 * @returns {{ problems: string[], statements: Map<string, number> }} `statements` has the number of statements by document
 */
export function check(documents, tests) {
  const problems = [];
  const listed = new Set();
  const statements = new Map();
  for (const [path, text] of documents) {
    const found = [...text.matchAll(new RegExp(String.raw`^- \*\*(${ID})\*\* (?=\S)`, "gm"))];
    statements.set(path, found.length);
    if (found.length === 0) problems.push(`${path}: no statement is listed`);
    for (const [, id] of found) {
      if (listed.has(id)) problems.push(`${path}: ${id} is listed twice`);
      listed.add(id);
    }
  }
  const proved = new Set();
  const skipped = new Set();
  for (const [path, text] of tests)
    for (const test of idsOf(path, text))
      for (const id of test.ids) {
        if (!listed.has(id)) problems.push(`${path}: no document lists ${id}`);
        (test.skipped ? skipped : proved).add(id);
      }
  for (const id of listed)
    if (!proved.has(id))
      problems.push(skipped.has(id) ? `${id}: its tests are skipped` : `${id}: no test names it`);
  return { problems, statements };
}

/**
 * Checks that a test looks for each message and question of the site: by its key, or by one of its sentences in one language.
 * @param {{ en: Record<string, string>, pt: Record<string, string> }} catalogues
 * @param {Iterable<string>} sources the site's own code, whose toasts name further keys
 * @param {Iterable<string>} tests
 * @returns {{ problems: string[], texts: number }}
 */
export function checkTexts(catalogues, sources, tests) {
  const wanted = new Set(
    Object.keys(catalogues.en).filter((key) => MESSAGE_KEYS.some((kind) => kind.test(key))),
  );
  for (const source of sources)
    for (const [toast] of source.matchAll(/Toast\(\s*\{.*?\}\s*\)/gs))
      for (const [, key] of toast.matchAll(/"([a-z]\w*(?:\.\w+)+)"/g)) wanted.add(key);
  const all = [...tests].join("\n");
  const problems = [];
  for (const key of wanted) {
    const sentences = [catalogues.en[key], catalogues.pt[key]].flatMap((words) =>
      (words ?? "").split(/(?<=[.?!]) |\{\w+\}/).map((part) => part.trim().replace(/[.:]$/, "")),
    );
    if (all.includes(`"${key}"`)) continue;
    if (!sentences.some((part) => all.includes(part.length > 5 ? part : `"${part}"`)))
      problems.push(`${key}: no test looks for what it says`);
  }
  return { problems, texts: wanted.size };
}

/** Returns the ids that the tests of a file prove, and whether each test is skipped. */
function idsOf(path, text) {
  if (path.endsWith(".go"))
    return [...text.matchAll(IDS_OF_A_COMMENT)].map(([, ids]) => ({ ids: ids.split(/,[\s/]+/) }));
  const lang = path.endsWith(".tsx") ? "tsx" : path.endsWith(".ts") ? "ts" : "js";
  const found = [];
  walk(parseAst(text, { lang, sourceType: "module" }), text, false, found);
  return found;
}

/** Adds the ids in the titles of all tests below a node to `found`. `skipped` says whether a group around the node is skipped. */
function walk(node, text, skipped, found) {
  let isSkipped = skipped;
  const call = node.type === "CallExpression" && callOf(node, text);
  if (call) {
    isSkipped ||= call.skipped;
    const ids = IDS_OF_A_TITLE.exec(call.title)?.[1];
    if (ids) found.push({ ids: ids.split(" "), skipped: isSkipped });
  }
  for (const [key, value] of Object.entries(node)) {
    if (key === "parent") continue;
    for (const child of Array.isArray(value) ? value : [value])
      if (child && typeof child.type === "string") walk(child, text, isSkipped, found);
  }
}

/** Returns the title of test("…"), describe.each(…)("…") and similar calls, or undefined for any other call. */
function callOf({ callee, arguments: args }, text) {
  const title = titleOf(args[0], text);
  // A test has a function as its last argument; test.skip(condition, reason) inside a test has none.
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

/** Returns the text of a title. That of a template keeps its placeholders as in the source: `${path} fits`. */
function titleOf(node, text) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return text.slice(node.start + 1, node.end - 1);
  return undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const read = (folder, names) =>
    new Map(
      readdirSync(join(root, folder), { recursive: true })
        .filter((name) => names.test(name))
        .sort()
        .map((name) => [join(folder, name), readFileSync(join(root, folder, name), "utf8")]),
    );
  const documents = read("docs/contracts", /\.md$/);
  const tests = new Map(
    ["bench", "cmd", "internal", "scripts", "test", "web/src"].flatMap((folder) => [
      ...read(folder, /_test\.go$|\.(?:test|spec)\.(?:tsx?|mjs)$/),
    ]),
  );
  const catalogue = (language) =>
    Object.assign(
      {},
      ...["", "admin/", "gallery/", "not-found/", "session/", "work/"].map((part) =>
        JSON.parse(readFileSync(join(root, `web/src/locales/${part}${language}.json`), "utf8")),
      ),
    );
  const { problems, statements } = check(documents, tests);
  const checkedTexts = checkTexts(
    { en: catalogue("en"), pt: catalogue("pt") },
    read("web/src", /(?<!\.test)\.tsx?$/).values(),
    tests.values(),
  );
  const bytes = [...documents.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_BYTES)
    problems.push(`docs/contracts: ${bytes} bytes, at most ${MAX_BYTES} are allowed`);
  for (const problem of [...problems, ...checkedTexts.problems]) console.error(problem);
  for (const [path, count] of statements) console.log(`${path}: ${count} statements`);
  console.log(`${bytes} of at most ${MAX_BYTES} bytes`);
  console.log(`${checkedTexts.texts} messages and questions that tests look for`);
  if (problems.length + checkedTexts.problems.length > 0) process.exit(1);
}
