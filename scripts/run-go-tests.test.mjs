// @vitest-environment node
import { basename } from "node:path";
import { expect, it } from "vitest";
import { classify, goSources } from "./go-tests.mjs";
import { programFolder } from "./run-go-tests.mjs";

it("run-go-tests: each package has a test program of its own, with and without the race detector", () => {
  const { whole, part, plain, never, soak } = classify(goSources());
  const folders = new Set(
    [whole, ...[part, plain, never, soak].map((group) => group.folders)].flat(),
  );
  const programs = [...folders].flatMap((folder) =>
    [true, false].map((race) => `${programFolder(folder, race)}/${basename(folder)}`),
  );
  expect(new Set(programs).size).toBe(programs.length);
});
