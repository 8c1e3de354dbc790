// @vitest-environment node
import { expect, it } from "vitest";
import { check, checkWords } from "./check-contracts.mjs";

const files = {
  "web/a.test.tsx": `
    it("says so", () => {});
    describe("a dialog", () => { it("closes", () => {}); it.each([1, 2])("opens %i", () => {}); });
    describe("a menu", () => { it("closes", () => {}); });
    it.skip("is off", () => {});
    describe.skip("all off", () => { it("is off too", () => {}); });
    it.todo("comes later");
    expect("looks like a test", () => {});`,
  "test/b.spec.ts": `
    for (const path of paths) test.describe("light", () => { test(\`\${path} fits\`, async () => {}); });
    test.describe.serial("in turn", () => { test("a, b | c", async () => { test.skip(true, "sometimes"); }); });
    test.use({ locale: "en" });`,
  "internal/c_test.go": `func TestOrder(t *testing.T) { t.Run("inner", func(t *testing.T) {}) }
// func TestGone(t *testing.T) {}
func helper(t *testing.T) {}`,
};
const read = (file) => files[file];
const problemsOf = (...rows) =>
  check(["| id | statement | proved by |", "| -- | -- | -- |", ...rows].join("\n"), read).problems;
const row = (test, id = "S2-a-1") => `| ${id} | what it says | \`${test}\` |`;

it.each([
  "web/a.test.tsx › says so",
  "web/a.test.tsx › a dialog › closes",
  "web/a.test.tsx › a dialog › opens %i",
  "web/a.test.tsx › opens %i",
  "web/a.test.tsx › a menu",
  "test/b.spec.ts › ${path} fits",
  "test/b.spec.ts › light › ${path} fits",
  "test/b.spec.ts › in turn › a, b \\| c",
  "internal/c_test.go › TestOrder",
])("finds %s", (test) => {
  expect(problemsOf(row(test))).toEqual([]);
});

it.each([
  ["web/a.test.tsx › says", /the test does not exist/],
  ["web/a.test.tsx › a menu › says so", /the test does not exist/],
  ["web/a.test.tsx › looks like a test", /the test does not exist/],
  ["web/a.test.tsx › comes later", /the test does not exist/],
  ["web/a.test.tsx › closes", /several tests have this name/],
  ["web/a.test.tsx › is off", /the test is skipped/],
  ["web/a.test.tsx › all off › is off too", /the test is skipped/],
  ["web/gone.test.tsx › says so", /the file does not exist/],
  ["internal/c_test.go › TestGone", /the test does not exist/],
  ["internal/c_test.go › helper", /the test does not exist/],
])("refuses %s", (test, expected) => {
  const problems = problemsOf(row(test));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(expected);
});

it("refuses a statement without a test, an id that is used twice, and a document without statements", () => {
  expect(problemsOf("| S2-a-1 | what it says | `a word` |")).toEqual([
    "line 3: S2-a-1 names no test",
  ]);
  const good = row("web/a.test.tsx › says so");
  expect(problemsOf(good, good)).toEqual(["line 4: S2-a-1 is listed twice"]);
  expect(problemsOf()).toEqual(["no statement is listed"]);
});

it("looks at every reference of a row, and at those outside of tables", () => {
  const both = "`web/a.test.tsx › says so`<br>`web/a.test.tsx › never said`";
  expect(
    problemsOf(`| S2-a-1 | what it says | ${both} |`, "See `internal/c_test.go › TestX`."),
  ).toEqual([
    "line 3: web/a.test.tsx › never said: the test does not exist",
    "line 4: internal/c_test.go › TestX: the test does not exist",
  ]);
});

it("wants a row with both languages' words for each text that is said or asked, and for those that toasts name", () => {
  const catalogues = {
    en: {
      "works.toast.saved": "Saved",
      "works.askConfirm": "Delete this?",
      "works.title": "Title",
      "works.done": "Done",
    },
    pt: {
      "works.toast.saved": "Gravado",
      "works.askConfirm": "Eliminar?",
      "works.title": "Título",
      "works.done": "Feito",
    },
  };
  const sources = [`areaToast({\n  title: t("works.done"),\n});`, `say(t("works.title"))`];
  const words = (...rows) => checkWords(rows.join("\n"), catalogues, sources).problems;
  const saved = "| W-1 | `works.toast.saved` | Saved | Gravado | `a › b` |";
  const ask = "| W-2 | `works.askConfirm` | Delete this? | Eliminar? | `a › b` |";
  const done = "| W-3 | `works.done` | Done | Feito | `a › b` |";
  expect(words(saved, ask, done)).toEqual([]);
  expect(words(saved, ask)).toEqual(["works.done has no row"]);
  expect(words(ask, done)).toEqual(["works.toast.saved has no row"]);
  expect(words(saved.replace("Gravado", "Salvo"), ask, done)).toEqual([
    'line 1: works.toast.saved says "Gravado" (pt)',
  ]);
  expect(words(saved, saved, ask, done)).toEqual(["line 2: works.toast.saved is listed twice"]);
  expect(words(saved, ask, done, "| W-4 | `works.gone` | Gone | Foi | `a › b` |")).toEqual([
    "line 4: no text works.gone (en)",
    "line 4: no text works.gone (pt)",
  ]);
});
