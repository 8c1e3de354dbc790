// Runs Go tests and prints the events of `go test -json`:
//
//   run-go-tests.mjs '{"race": true, "atOnce": 3, "run": "^TestA$", "skip": "", "folders": ["internal/db"]}'
//
// `atOnce` is the number of packages that run at the same time; `run` and `skip` select tests, as the options of `go test` do.
//
// `go test` runs the linker for each package in each run, which takes up to four seconds of CPU time. This script has Go keep the
// test programs in .cache/tests. Go links one again only if something that it is made of has changed.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const timeoutMinutes = 40; // of a package; it only ends a test that hangs: the slowest package takes five minutes

// Packages that the race detector does not instrument: C translated to Go (SQLite, the script engine), codecs, checksums and
// ciphers. That halves their time. They share state between goroutines only under locks of instrumented packages.
const uninstrumented = [
  "modernc.org/sqlite/lib",
  "modernc.org/libquickjs",
  "modernc.org/libc/...",
  "modernc.org/memory",
  "github.com/andybalholm/brotli/...",
  "github.com/gen2brain/webp/...",
  "github.com/klauspost/compress/...",
  "golang.org/x/crypto/...",
  "golang.org/x/image/...",
  "image/...",
  "compress/...",
  "hash/crc64",
  "github.com/superfly/ltx",
  "github.com/pierrec/lz4/...",
];

/** The arguments that build test programs. The linter runs vet, so they are built without it. */
const buildFlags = (race) => [
  "-tags",
  "nodynamic",
  "-vet=off",
  "-ldflags=-s -w",
  ...(race
    ? [
        "-race",
        ...uninstrumented.map((packages) => `-gcflags=${packages}=-race=false -d=checkptr=0`),
      ]
    : []),
];

/** The folder of a package's test program. Packages under internal and the others have one each, because of equal names. */
export const programFolder = (folder, race) =>
  join(
    ".cache/tests",
    race ? "race" : "plain",
    folder.startsWith("internal/") ? "internal" : "other",
  );

/** Builds the test programs of these folders, as far as they have changed. */
function build(folders, race) {
  const byProgramFolder = new Map();
  for (const folder of folders) {
    const into = programFolder(folder, race);
    byProgramFolder.set(into, [...(byProgramFolder.get(into) ?? []), folder]);
  }
  for (const [into, group] of byProgramFolder) {
    mkdirSync(into, { recursive: true });
    execFileSync(
      "go",
      [
        "test",
        "-c",
        "-o",
        `${into}/`,
        ...buildFlags(race),
        ...group.map((folder) => `./${folder}`),
      ],
      { stdio: "inherit" },
    );
  }
}

/** Runs a package's tests; resolves to whether they have passed. */
function runTests(toJSON, folder, { race, run, skip }) {
  const program = join(process.cwd(), programFolder(folder, race), `${basename(folder)}.test`);
  const child = spawn(
    toJSON,
    [
      "-t",
      "-p",
      `atelie/${folder}`,
      program,
      "-test.v=test2json",
      "-test.paniconexit0",
      `-test.timeout=${timeoutMinutes}m`,
      ...(run ? [`-test.run=${run}`] : []),
      ...(skip ? [`-test.skip=${skip}`] : []), // these run in another stage, with the race detector
    ],
    {
      cwd: folder,
      env: {
        ...process.env,
        PWD: join(process.cwd(), folder),
        // The race detector's copy of the memory in huge pages: a third less CPU time where page faults are slow.
        ...(race ? { GORACE: `${process.env.GORACE ?? ""} no_huge_pages_for_shadow=0` } : {}),
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  // Line by line: what several processes write to one pipe would be mixed.
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => process.stdout.write(`${line}\n`));
  const allRead = new Promise((resolve) => lines.on("close", resolve));
  // A process that a test has left can keep the output open after the program's own time limit.
  const limit = setTimeout(() => child.kill("SIGKILL"), (timeoutMinutes + 1) * 60_000);
  const ended = new Promise((resolve) => child.on("close", resolve));
  return Promise.all([ended, allRead]).then(([code]) => {
    clearTimeout(limit);
    return code === 0;
  });
}

async function main({ folders, atOnce, ...options }) {
  build(folders, options.race);
  const toJSON = execFileSync("go", ["tool", "-n", "test2json"], { encoding: "utf8" }).trim();
  const waiting = [...folders];
  const takeAll = async () => {
    let passed = true;
    for (let next = waiting.shift(); next; next = waiting.shift())
      if (!(await runTests(toJSON, next, options))) passed = false;
    return passed;
  };
  const all = await Promise.all(Array.from({ length: atOnce }, takeAll));
  process.exitCode = all.every(Boolean) ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  await main(JSON.parse(process.argv[2]));
}
