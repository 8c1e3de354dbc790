// @vitest-environment node
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { failure, fromPlaywright, fromVitest, unexpected } from "./test-reports.mjs";

it("counts Vitest's tests, and names those that failed, were skipped or are marked as todo", () => {
  const assertionResults = [
    { status: "passed", fullName: "a" },
    { status: "skipped", fullName: "b" },
    { status: "todo", fullName: "c" },
    { status: "failed", fullName: "d", failureMessages: ["\u001b[31mno\u001b[0m\n"] },
  ];
  const testResults = [
    { name: resolve("web/src/e.test.ts"), assertionResults },
    { name: resolve("web/src/f.test.ts"), assertionResults: [], message: "cannot be loaded" },
  ];
  expect(fromVitest({ testResults })).toEqual({
    passed: 1,
    failed: [
      { name: "web/src/e.test.ts d", reason: "no" },
      { name: "web/src/f.test.ts", reason: "cannot be loaded" },
    ],
    skipped: ["web/src/e.test.ts b", "web/src/e.test.ts c"],
  });
});

it("counts Playwright's tests, and names those that failed, were skipped or needed a second attempt", () => {
  const spec = (title, status, message) => ({
    title,
    tests: [{ status, results: [{}, { error: message && { message } }] }],
  });
  const report = {
    suites: [
      {
        file: "a.spec.ts",
        specs: [spec("b", "skipped"), spec("c", "expected")],
        suites: [
          {
            title: "d",
            specs: [spec("e", "skipped"), spec("f", "flaky"), spec("g", "unexpected", "not there")],
          },
        ],
      },
    ],
    errors: [{ message: "no such program" }],
  };
  expect(fromPlaywright(report)).toEqual({
    passed: 1,
    failed: [
      { name: "a.spec.ts › d › g", reason: "not there" },
      { name: "outside of any test", reason: "no such program" },
    ],
    skipped: ["a.spec.ts › b", "a.spec.ts › d › e"],
    flaky: ["a.spec.ts › d › f"],
  });
});

it("keeps only the beginning of a long reason", () => {
  const said = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n");
  expect(failure("a", said).reason.split("\n")).toHaveLength(12);
  expect(failure("a").reason).toBe("");
});

it("allows only the skipped tests that are listed with a reason", () => {
  const allowed = { "a TestB": "no Linux", "c *": "no database", "d TestE": "" };
  expect(unexpected(allowed, ["a TestB", "c TestX/y", "a TestBC", "d TestE"])).toEqual([
    "a TestBC",
    "d TestE",
  ]);
  expect(unexpected(undefined, ["a TestB"])).toEqual(["a TestB"]);
});
