// @vitest-environment node
import { expect, it } from "vitest";
import { check, checkTexts } from "./check-contracts.mjs";

const tests = {
  "web/a.test.tsx": `
    it("A-1: says so", () => {});
    describe("A-2: a dialog", () => { it("A-3 A-4: closes", () => {}); it.each([1, 2])("A-5: opens %i", () => {}); });
    it.skip("A-off: is off", () => {});
    describe.skip("all off", () => { it("A-off-2: is off too", () => {}); });
    it.todo("A-later: comes later");
    expect("A-not: looks like a test", () => {});`,
  "test/b.spec.ts": `
    for (const path of paths) test.describe("light", () => { test(\`B-1: \${path} fits\`, async () => {}); });
    test.describe.serial("in turn", () => { test("B-2: a, b | c", async () => { test.skip(true, "sometimes"); }); });
    test.use({ locale: "en" });`,
  "internal/c_test.go": `// Proves C-1, C-2.
//
// TestOrder looks at the order.
func TestOrder(t *testing.T) { t.Run("inner", func(t *testing.T) {}) }

// Proves C-3, C-4,
// C-5.
func FuzzOrder(f *testing.F) {}

// Proves C-helper.
func helper(t *testing.T) {}`,
};
const ids = ["A-1", "A-2", "A-3", "A-4", "A-5", "B-1", "B-2", "C-1", "C-2", "C-3", "C-4", "C-5"];
const skipped = ["A-off", "A-off-2"];
const document = (...listed) =>
  ["# Promises", "", "## One", "", ...listed.map((id) => `- **${id}** what it says`)].join("\n");
const problemsOf = (...listed) =>
  check(new Map([["docs/a.md", document(...listed)]]), new Map(Object.entries(tests))).problems;

it("finds the ids of titles and of Go comments", () => {
  expect(problemsOf(...ids, ...skipped)).toEqual([
    "A-off: its tests are skipped",
    "A-off-2: its tests are skipped",
  ]);
});

it.each(["A-later", "A-not", "C-helper", "A-6"])("finds no test that names %s", (id) => {
  expect(problemsOf(...ids, ...skipped, id)).toContain(`${id}: no test names it`);
});

it("rejects an id that no document lists, one that is listed twice, and a document without statements", () => {
  expect(problemsOf(...ids.slice(1), ...skipped)).toContain(
    "web/a.test.tsx: no document lists A-1",
  );
  expect(problemsOf(...ids, ...skipped, "A-1")).toContain("docs/a.md: A-1 is listed twice");
  expect(problemsOf()).toContain("docs/a.md: no statement is listed");
});

it("requires a test for each message and question, and for each text that a toast uses", () => {
  const catalogues = {
    en: {
      "works.toast.saved": "{name} is saved. Look at it.",
      "works.askConfirm": "Delete this?",
      "works.title": "Title",
      "works.done": "Done",
    },
    pt: {
      "works.toast.saved": "{name} foi gravado.",
      "works.askConfirm": "Eliminar?",
      "works.title": "Título",
      "works.done": "Feito",
    },
  };
  const sources = [`stackedToast({\n  title: t("works.done"),\n});`, `say(t("works.title"))`];
  const problems = (...looks) => checkTexts(catalogues, sources, looks).problems;
  const all = ['see("Look at it")', "see(/Eliminar?/)", 'see("Feito")'];
  expect(problems(...all)).toEqual([]);
  expect(problems('t("works.toast.saved")', ...all.slice(1))).toEqual([]);
  expect(problems(...all.slice(1))).toEqual(["works.toast.saved: no test looks for what it says"]);
  // A short word may stand anywhere: it counts as a whole string alone.
  expect(problems(...all.slice(0, 2), "// Feito, Done")).toEqual([
    "works.done: no test looks for what it says",
  ]);
});
