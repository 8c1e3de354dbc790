// @vitest-environment node
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { CheckCache, keyOf } from "./check-cache.mjs";

it("check-cache: each change of a file's name or content makes another key", () => {
  const keys = [
    keyOf([]),
    keyOf([["a", "bc"]]),
    keyOf([["a", "bd"]]),
    keyOf([["ab", "c"]]),
    keyOf([
      ["a", "b"],
      ["c", ""],
    ]),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf([["a", Buffer.from("bc")]])).toBe(keyOf([["a", "bc"]]));
});

it("check-cache: an entry is kept until it was not used for two weeks", () => {
  const folder = mkdtempSync(join(tmpdir(), "check-cache-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const cache = new CheckCache(join(folder, "checks"));
  expect(cache.has("first")).toBe(false);
  cache.add("first");
  const daysAgo = (days) => new Date(Date.now() - days * 86_400_000);
  utimesSync(join(cache.folder, "first"), daysAgo(13), daysAgo(13));
  cache.add("second");
  expect([cache.has("first"), cache.has("second")]).toEqual([true, true]);
  utimesSync(join(cache.folder, "first"), daysAgo(15), daysAgo(15));
  cache.add("third");
  expect([cache.has("first"), cache.has("second"), cache.has("third")]).toEqual([
    false,
    true,
    true,
  ]);
});
