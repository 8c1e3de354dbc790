// Runs the checks of the repository. It continues after a failure, and prints the number of tests at the end.
//   test.mjs       every check (make test)
//   test.mjs lint  the linters alone
//   test.mjs fast  the quick checks: no PostgreSQL, no browser, no race detector (make test-fast)
//   test.mjs soak  the long tests in full size (make soak)
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { CheckCache, keyOf, keyOfFiles } from "./check-cache.mjs";
import { classify, exactly, goSources, packagesOf } from "./go-tests.mjs";
import { makeMemoryFolder } from "./memory-folder.mjs";
import { failure, fromPlaywright, fromVitest, unexpected } from "./test-reports.mjs";

const results = ".cache/results";
// Which Go tests run with the race detector.
const plan = classify(goSources());

// Returns the command that runs Go tests, without Go's cache of test results. That cache does not notice changes of programs that a
// test starts, and it keeps the result of a lucky run. Only `fast` uses the cache, which has each result for one TMPDIR.
const goTest = (options) => `node scripts/run-go-tests.mjs '${JSON.stringify(options)}'`;
// The command for the tests of files with `//go:build !race`, in packages whose other tests run with the detector.
const neverRaced = plan.never.folders.length
  ? ` && ${goTest({ atOnce: 2, run: exactly(plan.never.names), folders: plan.never.folders })}`
  : "";

const lint = {
  formatGo: {
    name: "format (Go)",
    command:
      'files=$(gofmt -l cmd internal test bench tools web/embed.go) && [ -z "$files" ] || { echo "not formatted: $files"; exit 1; }',
  },
  format: {
    name: "format",
    command:
      "npm run --silent format -- --cache --cache-location .cache/prettier --cache-strategy content",
  },
  types: { name: "types", command: "npm run --silent typecheck" },
  typeScript: { name: "lint (TypeScript)", command: "npm run --silent lint" },
  contracts: { name: "contracts", command: "npm run --silent contracts" },
  budget: { name: "size of the home page", command: "npm run --silent budget" },
  // deadcode always succeeds, so any output counts as a failure. Functions that only tests call count as dead. tools is
  // a Go module of its own, which `./...` of the root leaves out.
  go: {
    name: "lint (Go)",
    command:
      "go tool -modfile=tools/go.mod golangci-lint run ./... && (cd tools && go tool golangci-lint run ./...) && " +
      "dead=$(go tool -modfile=tools/go.mod deadcode -tags nodynamic ./cmd/... && cd tools && go tool deadcode ./...) && " +
      '[ -z "$dead" ] || { echo "$dead"; exit 1; }',
  },
};

const vitest = {
  name: "Vitest",
  command: `npm run --silent test:unit -- --reporter=default --reporter=json --outputFile.json=$PWD/${results}/unit.json`,
  count: () => fromVitest(report("unit")),
};

/** The browser tests that the options of Playwright select. */
const endToEnd = (name, options) => ({
  name,
  command: `npm run --silent test:e2e -- ${options}`,
  env: {
    PLAYWRIGHT_JSON_OUTPUT_NAME: `${process.cwd()}/${results}/e2e.json`,
    PWTEST_CACHE_DIR: `${process.cwd()}/.cache/playwright`, // compiled tests; without it they would be in TMPDIR
  },
  count: () => withoutSecondTries(fromPlaywright(report("e2e"))),
});

const quickStages = [lint.formatGo, lint.format, lint.types, lint.typeScript, lint.contracts];
// These depend only on the files of the repository, so a run with the same files does not repeat them.
const remembered = [lint.go, ...quickStages];
// The stages of each run, and how many of them run at the same time. When one stage ends, the next one starts.
const runs = {
  lint: { atOnce: 2, stages: [lint.go, ...quickStages, lint.budget] },
  fast: {
    atOnce: 2,
    stages: [
      {
        name: "Go, SQLite alone",
        // Four packages at a time on two processors, because many tests mostly wait. Linker and tests collect garbage
        // less often than by default, which takes more memory and 7 % less CPU time.
        env: { GOGC: "400" },
        command: `go test -tags nodynamic -vet=off -timeout 40m -json -short -p 4 ${packagesOf([
          ...plan.whole.filter((folder) => folder.startsWith("internal/")),
          ...plan.plain.folders.filter((folder) => /^internal|architecture$/.test(folder)),
        ])}`,
        count: fromGo(),
      },
      ...quickStages,
      vitest,
    ],
  },
  // The browser's tests take longest and need most CPU time. Go's tests mostly wait, so they run in parallel with them.
  // The short stages come last, so that both processors are busy until the end. Three packages at a time, because many
  // tests wait. Three stages at a time take longer: the tests then compete for the caches of the processors.
  test: {
    atOnce: 2,
    stages: [
      endToEnd("end to end (Chromium)", "--grep-invert @soak"),
      {
        name: "Go, race detector: packages that start goroutines",
        command: goTest({ race: true, atOnce: 3, folders: plan.whole }),
        count: fromGo(),
      },
      {
        name: "Go, race detector: tests that start goroutines",
        command: goTest({
          race: true,
          atOnce: 2,
          run: exactly(plan.part.names),
          folders: plan.part.folders,
        }),
        count: fromGo(),
      },
      {
        name: "Go, all other tests",
        command: `${goTest({ atOnce: 3, skip: exactly(plan.plain.names), folders: plan.plain.folders })}${neverRaced}`,
        count: fromGo(),
      },
      {
        name: "contract (official client)",
        command: `npm run --silent test:contract -- --reporter=default --reporter=json --outputFile.json=$PWD/${results}/contract.json`,
        count: () => fromVitest(report("contract")),
      },
      lint.go,
      vitest,
      ...quickStages,
      lint.budget,
    ],
  },
  soak: {
    atOnce: 1,
    stages: [
      {
        name: "Go, long drills in full",
        command: goTest({ atOnce: 2, run: exactly(plan.soak.names), folders: plan.soak.folders }),
        env: { SOAK: "1" },
        count: fromGo(),
      },
      {
        name: "Go, hostile requests with the race detector",
        command: goTest({ race: true, atOnce: 1, folders: ["test/hostile"] }),
        env: { SOAK: "1" },
        count: fromGo(),
      },
      endToEnd("end to end (Chromium), repetitions", "--grep @soak"),
    ],
  },
};

const report = (name) => JSON.parse(readFileSync(`${results}/${name}.json`, "utf8"));

// The configuration allows no second attempt. If a run allows it by an option, more than two tests that needed it fail
// the run.
function withoutSecondTries({ flaky, ...outcome }) {
  if (flaky.length > 2)
    outcome.failed.push(...flaky.map((name) => failure(name, "needed a second try")));
  else outcome.passed += flaky.length;
  return outcome;
}

// go test -json prints one event per line. The output of passing tests is dropped, that of failing tests is printed.
function fromGo() {
  const total = { passed: 0, failed: [], skipped: [] };
  const outputs = new Map();
  return Object.assign(() => total, {
    line(text, print) {
      let e;
      try {
        e = JSON.parse(text);
      } catch {
        print(`${text}\n`);
        return;
      }
      const key = `${e.Package ?? e.ImportPath} ${e.Test ?? ""}`;
      if (e.Action === "output" || e.Action === "build-output")
        outputs.set(key, (outputs.get(key) ?? "") + e.Output);
      if (e.Action === "build-fail") print(outputs.get(key) ?? "");
      if (e.Action === "fail") print(`--- ${key}\n${outputs.get(key) ?? ""}`);
      if (e.Action === "fail" && !e.Test)
        // Tests without a result: the program of the package was killed, or its output has swallowed their last line.
        for (const [left, said] of outputs)
          if (left.startsWith(`${e.Package} `) && left !== key) print(`--- ${left}\n${said}`);
      if (!["pass", "fail", "skip"].includes(e.Action)) return;
      if (e.Test && e.Action === "pass") total.passed++;
      if (e.Test && e.Action === "skip") total.skipped.push(key);
      if (e.Test && e.Action === "fail") total.failed.push(failure(key, outputs.get(key)));
      if (!e.Test && e.Action === "fail" && !total.failed.some(({ name }) => name.startsWith(key)))
        total.failed.push(failure(key, outputs.get(key)));
      outputs.delete(key);
      if (!e.Test && e.Action !== "skip")
        print(`${e.Action === "pass" ? "ok  " : "FAIL"} ${e.Package} ${e.Elapsed ?? 0} s\n`);
    },
  });
}

/**
 * Builds the programs that tests start, and returns their folder. Otherwise each test that needs one would have Go examine all
 * sources, and link it again: 20 times in a run, several seconds of CPU time each.
 */
function buildPrograms() {
  const folder = `${process.cwd()}/.cache/programs`;
  mkdirSync(folder, { recursive: true });
  const helpers = ["mailserver", "postgres", "s3", "sql"].map((name) => `./test/${name}`);
  copyFileSync("bin/atelie", `${folder}/atelie`); // made by make
  execFileSync("go", ["build", "-o", `${folder}/`, ...helpers], { stdio: "inherit" });
  return folder;
}

/** Makes migrated databases, which the Go tests copy, and returns their folder. */
function makeTemplates(programs) {
  const folder = mkdtempSync(`${memory ?? `${process.cwd()}/.cache`}/templates-`);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  execFileSync(`${programs}/postgres`, ["-templates", folder], { stdio: "inherit" });
  return folder;
}

/** Runs a stage; passes its output to print. */
function run(stage, print) {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", stage.command], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...stage.env },
    });
    const line = stage.count?.line;
    if (line) createInterface({ input: child.stdout }).on("line", (text) => line(text, print));
    else child.stdout.on("data", print);
    child.stderr.on("data", print);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

const allowedSkips = JSON.parse(readFileSync("test/allowed-skips.json", "utf8"));
const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
const failures = [];

const checks = new CheckCache();

/** Returns the key of a stage whose result is remembered, and undefined for all other stages and without git. */
function keyOfStage(stage) {
  if (!remembered.includes(stage) || !existsSync(".git")) return undefined;
  return keyOf([
    ["command", stage.command],
    ["node", process.version],
    ["go", execFileSync("go", ["env", "GOVERSION", "GOOS", "GOARCH"])],
    ["files", keyOfFiles()],
  ]);
}

/** Runs a stage and counts its tests. If other stages run in parallel, its output is printed only at its end. */
async function runAndCount(stage, inParallel) {
  const heldOutput = [`\n== ${stage.name}\n`];
  const print = inParallel ? (text) => heldOutput.push(text) : (text) => process.stdout.write(text);
  process.stdout.write(inParallel ? `${stage.name} …\n` : heldOutput.join(""));
  const start = Date.now();
  const key = keyOfStage(stage);
  const known = key !== undefined && checks.has(key);
  const code = known ? 0 : await run(stage, print);
  // The files may have been edited while the stage ran.
  if (key !== undefined && !known && code === 0 && keyOfStage(stage) === key) checks.add(key);
  const outcome = { passed: 0, failed: [], skipped: [] };
  try {
    if (stage.count) Object.assign(outcome, stage.count());
    else if (code === 0) outcome.passed = 1;
  } catch (error) {
    print(`no result: ${error.message}\n`);
  }
  for (const name of unexpected(allowedSkips[stage.name], outcome.skipped))
    outcome.failed.push(failure(name, "skipped, and not in test/allowed-skips.json"));
  if (outcome.failed.length === 0 && (code !== 0 || outcome.passed === 0))
    outcome.failed.push(failure(stage.name, "failed outside of any test; its output says why"));
  failures.push(...outcome.failed);
  const sum = {
    passed: outcome.passed,
    failed: outcome.failed.length,
    skipped: outcome.skipped.length,
  };
  for (const result of Object.keys(total)) total[result] += sum[result];
  if (inParallel) for (const text of heldOutput) process.stdout.write(text);
  lines.push(
    `${sum.failed ? "FAIL" : "ok  "} ${stage.name}: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped, ${known ? "not repeated, the files are the same" : `${((Date.now() - start) / 1000).toFixed(0)} s`}`,
  );
}

// Every machine makes the same pictures, and the programs that tests start do not start libvips. Tests of libvips set this themselves.
process.env.ATELIE_VIPS = "off";
// Go reuses what another clone has compiled only if the result contains no path of that clone.
process.env.GOFLAGS = `${process.env.GOFLAGS ?? ""} -trimpath`.trim();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
const [runName = "test"] = process.argv.slice(2);
const memory = makeMemoryFolder({
  key: runName === "fast" && createHash("sha256").update(process.cwd()).digest("hex").slice(0, 12),
});
if (memory) {
  process.env.GOTMPDIR ??= tmpdir(); // linked programs are large and written once
  process.env.TMPDIR = memory;
  process.on("exit", () => rmSync(memory, { recursive: true, force: true, maxRetries: 10 }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
}
const begun = Date.now();
const { atOnce, stages } = runs[runName];
if (["test", "soak"].includes(runName)) {
  process.env.TEST_PROGRAMS = buildPrograms();
  process.env.TEST_TEMPLATES = makeTemplates(process.env.TEST_PROGRAMS);
}
// Before the stages: the workers that make pictures have a low priority, so beside the Go tests they can take a quarter of an hour.
if (runName === "test")
  process.env.TEST_DEMO = execFileSync("node_modules/.bin/node", ["bench/demo-folder.mjs"], {
    encoding: "utf8",
  }).trim();
const takeAll = async () => {
  for (let stage = stages.shift(); stage; stage = stages.shift())
    await runAndCount(stage, atOnce > 1);
};
await Promise.all(Array.from({ length: atOnce }, takeAll));
for (const { name, reason } of failures)
  console.log(`\nFAILED ${name}\n${reason.replaceAll(/^/gm, "    ")}`);
console.log(`\n${lines.join("\n")}\n${((Date.now() - begun) / 1000).toFixed(0)} s in all\n`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = failures.length ? 1 : 0;
