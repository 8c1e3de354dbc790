// Decides from the sources which Go tests run with the race detector, so that a new test needs no entry in a list:
//
//   - In a package that starts goroutines, all tests run with the detector. So do all tests of the packages in WHOLE.
//   - In the packages of BY_TEST, and in packages that start no goroutines, a test runs with the detector only if it starts
//     goroutines: itself, or by calling a function of its package's tests (methods of fixtures do not count).
//   - Starting the whole program by a function of PROGRAM does not count as starting goroutines, because test/hostile runs the
//     program with concurrent requests. For these packages BY_TEST names tests that run jobs, mails, files or the backup beside
//     requests.
//   - All other tests run without the detector. It takes ten times as long, and finds nothing in a test with one goroutine.
//   - The tests of a file with `//go:build !race` never run with the detector.
//
// The file also decides which tests `make soak` runs: those in files that import atelie/test/soak. If a file with this import has no
// tests, all tests of its package run. Tests that call soak.Only run only in `make soak`.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// Packages that use goroutines, but whose many or expensive tests mostly send one request after the other. The value
// names the tests that run with the race detector although they start no goroutine themselves.
export const BY_TEST = {
  "internal/app": [
    "TestAConversationByMailAndLink",
    "TestAnUploadGoesOnAfterAFullDisk",
    "TestBodyDeadlineEndsTheRequest",
    "TestFloodOfMessagesSendsFewMails",
    "TestMetricsCountLiveSockets",
    "TestNoticesSurviveTheDeathOfANode",
    "TestSplitBackupOfSeveralNodesIsAProblem",
  ],
  "internal/auth": [],
  // The loops of the service, the workers of files and restores, and writes beside the backup.
  "internal/backup": [
    "TestAScrubRemovesDeletedBytesWhileTheBackupRuns",
    "TestANodeThatWasKilledDuringAProofIsReplaced",
    "TestEachRestorePointCanBeRestored",
    "TestFullDiskPausesTheBackup",
    "TestLostBlobIsAnErrorAndOthersAreCopied",
    "TestOneNodeProvesTheBackupEachNight",
    "TestTheNextStartContinuesTheReplica",
    "TestUnreachableDestinationDelaysNoWriteAndCatchesUp",
  ],
  "internal/cli": ["TestBackupIsProvenAndCopied", "TestCopyFromARunningSite"],
  "internal/db": [
    "TestClaimIsRenewedAfterALostConnection",
    "TestClaimsAllowARollingChange",
    "TestClaimsOfOneDatabaseMustAgree",
    "TestOneLostConnectionIsNoOutage",
    "TestOutageIsReportedOnce",
  ],
  "internal/pages": ["TestStalePageIsServedWhileRenditionsAreRecorded"],
  "internal/media": ["TestJobsMakeTheLadderOfAnUpload"],
  "internal/media/rendition": ["TestProcessorFillsOrders", "TestProcessorEndsJobsAfterTheTimeout"],
  "internal/media/rendition/colour": [],
  "internal/storage": [],
  "internal/tables": [],
};
/** Functions of tests that run the whole program in their own process. */
export const PROGRAM = { "internal/app": ["serve"], "internal/cli": ["serverAt"] };
// Tests that run the whole program in their own process, with concurrent requests.
export const WHOLE = ["test/hostile"];
// Folders whose tests, except those of WHOLE, start programs that are built without the detector.
const DRIVERS = /^(bench|cmd|test)\b/;

const GOROUTINE = /^\s*(?:defer )?go (?:func|[\w.]+)\(|\.Go\(|\.Parallel\(\)/m;
const NEVER_RACES = /^\/\/go:build .*!race/m;
const IMPORTS_SOAK = /"atelie\/test\/soak"/;
const ONLY_IN_SOAK = /\bsoak\.Only\(/;
const TEST = /^(?:Test|Fuzz|Example)/;
const FUNCTION = /^func (?:\([^)]*\) )?(\w+)[[(](?:.*\}$|[^]*?^\})/gm;

/**
 * Divides the tests into runs of `go test`. Each run has the folders of its packages, and the names of tests if it runs or
 * skips only some of them. `long` has the names that all runs of `make test` skip.
 * @param {Map<string, string>} sources path → text of every Go file
 */
export function classify(sources) {
  const packages = new Map();
  for (const [path, text] of sources) {
    const folder = dirname(path);
    if (!packages.has(folder)) packages.set(folder, { tests: [], startsGoroutines: false });
    const found = packages.get(folder);
    if (path.endsWith("_test.go")) found.tests.push(text);
    else found.startsGoroutines ||= GOROUTINE.test(text);
  }
  const plan = {
    whole: [], // with the race detector: all tests
    part: { folders: [], names: [] }, // with the race detector: the named tests
    plain: { folders: [], names: [] }, // without it: all tests except the named ones
    never: { folders: [], names: [] }, // without it: the named tests of packages in `whole`
    soak: { folders: [], names: [] }, // make soak: the named tests
    long: [...packages.values()].flatMap(({ tests }) => tests.flatMap(namesOfLongTests)),
  };
  for (const [folder, { tests, startsGoroutines }] of [...packages].sort()) {
    if (tests.length === 0) continue;
    const driver = DRIVERS.test(folder) && !WHOLE.includes(folder);
    const whole = WHOLE.includes(folder) || (startsGoroutines && !BY_TEST[folder] && !driver);
    if (whole) plan.whole.push(folder);
    else plan.plain.folders.push(folder);
    const racing =
      whole || driver ? new Set() : testsThatStartGoroutines(tests, PROGRAM[folder] ?? []);
    for (const name of BY_TEST[folder] ?? []) racing.add(name);
    for (const text of tests) {
      const all = namesOf(text);
      const names = all.filter((name) => !plan.long.includes(name));
      const never = NEVER_RACES.test(text);
      if (whole && never) add(plan.never, folder, names);
      if (!never)
        add(
          plan.part,
          folder,
          names.filter((name) => racing.has(name)),
        );
      if (IMPORTS_SOAK.test(text))
        add(plan.soak, folder, all.length ? all : tests.flatMap(namesOf));
    }
  }
  plan.plain.names = [...plan.part.names, ...plan.long];
  // -skip applies to all packages: a test with the same name in another package must run with the detector too.
  for (const folder of plan.plain.folders)
    if (
      packages
        .get(folder)
        .tests.some((text) => namesOf(text).some((name) => plan.part.names.includes(name)))
    )
      if (!plan.part.folders.includes(folder)) plan.part.folders.push(folder);
  return plan;
}

const testsOf = (text) =>
  [...text.matchAll(FUNCTION)].filter(([, name]) => TEST.test(name) && name !== "TestMain");
const namesOf = (text) => testsOf(text).map(([, name]) => name);
const namesOfLongTests = (text) =>
  testsOf(text)
    .filter(([body]) => ONLY_IN_SOAK.test(body))
    .map(([, name]) => name);

/**
 * Returns the names of those functions in a package's tests that start goroutines, or call a function that does, except the
 * functions in `ignored`.
 */
function testsThatStartGoroutines(tests, ignored) {
  const bodies = new Map();
  for (const text of tests)
    for (const [body, name] of text.matchAll(FUNCTION))
      if (!body.startsWith("func (") && !ignored.includes(name)) bodies.set(name, body);
  const found = new Set(
    [...bodies].filter(([, body]) => GOROUTINE.test(body)).map(([name]) => name),
  );
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const [name, body] of bodies)
      for (const [, called] of body.matchAll(/(?<!\.)\b(\w+)\(/g))
        if (found.has(called)) found.add(name);
  }
  return found;
}

function add(run, folder, names) {
  if (names.length === 0) return;
  if (!run.folders.includes(folder)) run.folders.push(folder);
  run.names.push(...names);
}

/** Returns all Go sources of the repository: path → text. */
export function goSources() {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const sources = new Map();
  for (const top of ["bench", "cmd", "internal", "test"])
    for (const name of readdirSync(join(root, top), { recursive: true }))
      if (name.endsWith(".go") && !name.includes("testdata/"))
        sources.set(join(top, name), readFileSync(join(root, top, name), "utf8"));
  return sources;
}

/** The arguments of `go test` for the packages in these folders. */
export const packagesOf = (folders) => folders.map((folder) => `./${folder}`).join(" ");
/** A pattern for -run and -skip that matches exactly these tests. */
export const exactly = (names) => `^(${[...new Set(names)].sort().join("|")})$`;
