// Reads the reports of Vitest and Playwright: which tests failed and why, and which were skipped. A skipped test fails the run,
// unless test/allowed-skips.json has an entry for it. That file has an object for each stage of the run. The keys of the object
// are names of tests, the values are reasons. A name that ends in `*` stands for all names with that beginning.
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/**
 * @typedef {{ name: string, reason: string }} Failure
 * @typedef {{ passed: number, failed: Failure[], skipped: string[] }} Outcome
 */

/** @returns {Outcome} the outcome in Vitest's JSON report */
export function fromVitest({ testResults }) {
  const outcome = { passed: 0, failed: [], skipped: [] };
  for (const { name: file, message, assertionResults } of testResults) {
    for (const { status, fullName, failureMessages } of assertionResults) {
      const name = `${relative("", file)} ${fullName}`;
      if (status === "passed") outcome.passed++;
      else if (status === "failed") outcome.failed.push(failure(name, failureMessages?.[0]));
      else outcome.skipped.push(name);
    }
    // A file that cannot be loaded has no tests. It is reported as one failure.
    if (assertionResults.length === 0) outcome.failed.push(failure(relative("", file), message));
  }
  return outcome;
}

/**
 * @returns {Outcome & { flaky: string[] }} the outcome in Playwright's JSON report; tests that passed only at a later
 * attempt are in `flaky` and nowhere else
 */
export function fromPlaywright({ suites, errors = [] }) {
  const outcome = { passed: 0, failed: [], skipped: [], flaky: [] };
  const read = (suite, path) => {
    for (const { title, tests } of suite.specs ?? [])
      for (const { status, results } of tests) {
        const name = [...path, title].join(" › ");
        if (status === "expected") outcome.passed++;
        else if (status === "flaky") outcome.flaky.push(name);
        else if (status === "skipped") outcome.skipped.push(name);
        else outcome.failed.push(failure(name, results?.at(-1)?.error?.message));
      }
    for (const inner of suite.suites ?? []) read(inner, [...path, inner.title]);
  };
  for (const suite of suites) read(suite, [suite.file]);
  for (const { message } of errors) outcome.failed.push(failure("outside of any test", message));
  return outcome;
}

const maxReasonLines = 12; // lines of a reason

/** @returns {Failure} a failure whose reason is the beginning of the message */
export function failure(name, message = "") {
  const lines = stripVTControlCharacters(message).trimEnd().split("\n");
  return { name, reason: lines.slice(0, maxReasonLines).join("\n") };
}

/**
 * @param {Record<string, string> | undefined} allowed name → reason
 * @param {string[]} skipped
 * @returns {string[]} the skipped tests that no entry allows
 */
export function unexpected(allowed = {}, skipped) {
  return skipped.filter(
    (name) =>
      !Object.entries(allowed).some(
        ([entry, reason]) =>
          reason && (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry),
      ),
  );
}
