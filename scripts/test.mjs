// Runs every check in turn, goes on after a failure, and ends with the number of tests.
// `node scripts/test.mjs lint` runs the linters alone.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";

const results = ".cache/results";
const stages = [
  {
    name: "format (Go)",
    kind: "lint",
    command:
      'files=$(gofmt -l cmd internal test bench web/embed.go) && [ -z "$files" ] || { echo "not formatted: $files"; exit 1; }',
  },
  { name: "format", kind: "lint", command: "npm run --silent format" },
  { name: "types", kind: "lint", command: "npm run --silent typecheck" },
  { name: "lint (TypeScript)", kind: "lint", command: "npm run --silent lint" },
  { name: "contracts", kind: "lint", command: "npm run --silent contracts" },
  { name: "size of the home page", kind: "lint", command: "npm run --silent budget" },
  {
    name: "lint (Go)",
    kind: "lint",
    command: "go tool -modfile=tools/go.mod golangci-lint run ./...",
  },
  {
    name: "Vitest",
    kind: "test",
    command: `npm run --silent test:unit -- --reporter=default --reporter=json --outputFile.json=$PWD/${results}/unit.json`,
    count: () => fromVitest("unit"),
  },
  {
    name: "Go, race detector, both databases",
    kind: "test",
    // SQLite is C that was translated: -race also checks its pointer arithmetic, a fifth of the whole time. The race
    // detector itself watches it as it does everything else.
    command:
      "go test -tags nodynamic -race '-gcflags=modernc.org/...=-d=checkptr=0' -timeout 20m -json ./...",
    count: fromGo(),
  },
  {
    name: "Go, what the race detector makes too slow: guesses, many rows, SAML answers, drawn pages",
    kind: "test",
    command:
      "go test -tags nodynamic -timeout 20m -json -run '^(TestGuessing|TestALarge|TestHostileSAML|TestTheEngineDraws|TestHostileTextsAreInert)' ./internal/auth ./internal/db ./internal/pages",
    count: fromGo(),
  },
  {
    name: "Go, three nodes, and 10,000 hostile requests a surface",
    kind: "test",
    command: "go test -tags nodynamic -timeout 20m -p 1 -json ./test/nodes ./test/hostile",
    count: fromGo(),
  },
  {
    name: "Go, hostile pictures, both engines",
    kind: "test",
    command:
      "go test -tags nodynamic -timeout 20m -json -run '^(TestHostileAll|TestBothEngines|TestVips|TestNames)' ./internal/storage/rendition",
    count: fromGo(),
  },
  {
    name: "contract (official client)",
    kind: "test",
    command: `npm run --silent test:contract -- --reporter=default --reporter=json --outputFile.json=$PWD/${results}/contract.json`,
    count: () => fromVitest("contract"),
  },
  {
    name: "end to end (Chromium)",
    kind: "test",
    command: "npm run --silent test:e2e",
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: `${process.cwd()}/${results}/e2e.json` },
    count: fromPlaywright,
  },
];

function fromVitest(name) {
  const r = JSON.parse(readFileSync(`${results}/${name}.json`, "utf8"));
  return {
    passed: r.numPassedTests,
    failed: r.numFailedTests,
    skipped: r.numPendingTests + r.numTodoTests,
  };
}

function fromPlaywright() {
  const { stats } = JSON.parse(readFileSync(`${results}/e2e.json`, "utf8"));
  if (stats.flaky) console.log(`${stats.flaky} needed a second try`);
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected, skipped: stats.skipped };
}

// go test -json prints one event a line: the output of what passes is dropped, that of what fails is shown.
function fromGo() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const outputs = new Map();
  return Object.assign(() => total, {
    line(text) {
      let e;
      try {
        e = JSON.parse(text);
      } catch {
        console.log(text);
        return;
      }
      const key = `${e.Package ?? e.ImportPath} ${e.Test ?? ""}`;
      if (e.Action === "output" || e.Action === "build-output")
        outputs.set(key, (outputs.get(key) ?? "") + e.Output);
      if (e.Action === "build-fail") process.stdout.write(outputs.get(key) ?? "");
      if (e.Action === "fail") process.stdout.write(`--- ${key}\n${outputs.get(key) ?? ""}`);
      if (!["pass", "fail", "skip"].includes(e.Action)) return;
      outputs.delete(key);
      if (e.Test) total[{ pass: "passed", fail: "failed", skip: "skipped" }[e.Action]]++;
      else if (e.Action !== "skip")
        console.log(`${e.Action === "pass" ? "ok  " : "FAIL"} ${e.Package} ${e.Elapsed ?? 0} s`);
    },
  });
}

function run(stage) {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", stage.command], {
      stdio: ["ignore", stage.count?.line ? "pipe" : "inherit", "inherit"],
      env: { ...process.env, ...stage.env },
    });
    if (stage.count?.line) createInterface({ input: child.stdout }).on("line", stage.count.line);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
let broken = 0;
for (const stage of stages.filter((s) => !process.argv[2] || s.kind === process.argv[2])) {
  console.log(`\n== ${stage.name}`);
  const start = Date.now();
  const code = await run(stage);
  const counted = { passed: 0, failed: 0, skipped: 0 };
  try {
    Object.assign(
      counted,
      stage.kind === "test"
        ? stage.count()
        : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 },
    );
  } catch (error) {
    console.log(`no result: ${error.message}`);
  }
  if (code !== 0 && counted.failed === 0) counted.failed = 1; // it broke outside of any test
  if (stage.kind === "test" && counted.passed + counted.failed === 0) counted.failed = 1; // it ran nothing
  if (counted.failed) broken++;
  for (const k of Object.keys(total)) total[k] += counted[k];
  lines.push(
    `${counted.failed ? "FAIL" : "ok  "} ${stage.name}: ${counted.passed} passed, ${counted.failed} failed, ${counted.skipped} skipped, ${((Date.now() - start) / 1000).toFixed(0)} s`,
  );
}
console.log(`\n${lines.join("\n")}\n`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = broken ? 1 : 0;
