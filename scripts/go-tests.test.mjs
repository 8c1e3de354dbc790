// @vitest-environment node
import { describe, expect, it } from "vitest";
import { BY_TEST, classify, goSources, PROGRAM, WHOLE } from "./go-tests.mjs";

const plan = (files) => classify(new Map(Object.entries(files)));
const none = { folders: [], names: [] };

describe("go-tests", () => {
  it("runs all tests of a package with the race detector if it starts goroutines", () => {
    for (const code of [
      "func Run() {\n\tgo func() {}()\n}\n",
      "func Run() {\n\tvar all sync.WaitGroup\n\tall.Go(func() {})\n}\n",
    ])
      expect(
        plan({
          "internal/new/a.go": `package a\n${code}`,
          "internal/new/a_test.go": "func TestA(t *testing.T) {\n}\n",
        }),
      ).toEqual({
        whole: ["internal/new"],
        part: none,
        plain: none,
        never: none,
        soak: none,
        long: [],
      });
  });

  it("runs tests with the race detector if they or functions that they call start goroutines", () => {
    const { whole, part, plain } = plan({
      "internal/new/a.go": 'package a\nimport "sync"\nfunc Sum() int {\n\treturn 1\n}\n',
      "internal/new/a_test.go": [
        "func TestMain(m *testing.M) { os.Exit(m.Run()) }",
        "func TestAlone(t *testing.T) {\n\tif true {\n\t}\n\tx.atOnce()\n}",
        "func TestItself(t *testing.T) {\n\tgo func() {\n\t}()\n}",
        "func TestThroughAnother(t *testing.T) {\n\tmany(t)\n}",
        "func FuzzSum(f *testing.F) {\n\tf.Add(1)\n}",
        "func (x *fixture) atOnce() { go func() {}() }",
      ].join("\n\n"),
      "internal/new/b_test.go":
        "func many(t *testing.T) { atOnce(t) }\n\nfunc atOnce(t *testing.T) {\n\twg.Go(func() {})\n}\n",
    });
    expect(whole).toEqual([]);
    expect(part).toEqual({
      folders: ["internal/new"],
      names: ["TestItself", "TestThroughAnother"],
    });
    expect(plain).toEqual({ folders: ["internal/new"], names: part.names });
  });

  it("does not count functions that run the whole program as goroutines of their test", () => {
    const { part } = plan({
      "internal/app/a_test.go": [
        "func serve(t *testing.T) {\n\tgo func() {}()\n}",
        "func serveTwice(t *testing.T) {\n\tserve(t)\n}",
        "func TestOneByOne(t *testing.T) {\n\tserve(t)\n\tserveTwice(t)\n}",
        "func TestAtOnce(t *testing.T) {\n\tserve(t)\n\tgo func() {}()\n}",
      ].join("\n\n"),
    });
    expect(part.names).toContain("TestAtOnce");
    expect(part.names).not.toContain("TestOneByOne");
  });

  it("never uses the race detector for files that exclude it and for tests that start other programs", () => {
    const goroutine = "func TestB(t *testing.T) {\n\tgo func() {}()\n}\n";
    expect(
      plan({
        "internal/new/a.go": "package a\nfunc Run() {\n\tgo work()\n}\n",
        "internal/new/a_test.go": "func TestA(t *testing.T) {\n}\n",
        "internal/new/large_test.go": `//go:build !race\n\npackage a\n${goroutine}`,
        "test/drill/drill_test.go": goroutine,
      }),
    ).toEqual({
      whole: ["internal/new"],
      part: none,
      plain: { folders: ["test/drill"], names: [] },
      never: { folders: ["internal/new"], names: ["TestB"] },
      soak: none,
      long: [],
    });
  });

  it("runs the tests of files that import atelie/test/soak in make soak", () => {
    const { plain, soak } = plan({
      "internal/new/a_test.go": "func TestA(t *testing.T) {\n}\n",
      "internal/new/b_test.go":
        'import "atelie/test/soak"\n\nfunc TestB(t *testing.T) {\n\tsoak.Size(1, 2)\n}\n',
    });
    expect(plain.folders).toEqual(["internal/new"]);
    expect(soak).toEqual({ folders: ["internal/new"], names: ["TestB"] });
  });

  it("runs the tests that call soak.Only in make soak alone", () => {
    const { part, plain, soak } = plan({
      "internal/new/a_test.go": [
        'import "atelie/test/soak"',
        "func TestA(t *testing.T) {\n\tgo func() {}()\n}",
        "func TestB(t *testing.T) {\n\tsoak.Only(t)\n\tgo func() {}()\n}",
      ].join("\n\n"),
    });
    expect(part.names).toEqual(["TestA"]);
    expect(plain.names).toEqual(["TestA", "TestB"]);
    expect(soak.names).toEqual(["TestA", "TestB"]);
  });

  it("omits no test whose name exists in two packages", () => {
    const test = "func TestA(t *testing.T) {\n}\n";
    expect(
      plan({
        "internal/one/a_test.go": test.replace("}", "\tgo func() {}()\n}"),
        "internal/two/a_test.go": test,
      }).part.folders,
    ).toEqual(["internal/one", "internal/two"]);
  });

  it("gives each test of the repository to exactly one run", () => {
    const sources = goSources();
    const { whole, part, plain, never, soak, long } = classify(sources);
    let tests = 0;
    for (const [path, text] of sources) {
      if (!path.endsWith("_test.go")) continue;
      const folder = path.replace(/\/[^/]+$/, "");
      const races = !/^\/\/go:build .*!race/m.test(text);
      for (const [, name] of text.matchAll(/^func ((?:Test|Fuzz)\w*)\(/gm)) {
        if (name === "TestMain") continue;
        tests++;
        const runs = [
          races && whole.includes(folder),
          races && part.folders.includes(folder) && part.names.includes(name),
          plain.folders.includes(folder) && !plain.names.includes(name),
          never.folders.includes(folder) && never.names.includes(name),
          long.includes(name) && soak.folders.includes(folder) && soak.names.includes(name),
        ];
        expect(runs.filter(Boolean), `${path} ${name}`).toHaveLength(1);
      }
    }
    expect(tests).toBeGreaterThan(700);
    expect(whole).toEqual(expect.arrayContaining(WHOLE));
  });

  it("names only packages and tests that exist", () => {
    const sources = goSources();
    for (const [folder, names] of Object.entries(BY_TEST)) {
      const tests = [...sources]
        .filter(([path]) => path.startsWith(`${folder}/`) && path.endsWith("_test.go"))
        .map(([, text]) => text)
        .join("\n");
      for (const name of ["", ...names, ...(PROGRAM[folder] ?? [])])
        expect(tests).toContain(`func ${name}`);
    }
  });
});
