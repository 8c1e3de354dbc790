import { expect, it } from "vitest";
import { isNumbered, idsAfterMove, idsWithNewCover } from "@/features/admin-covers/order";

const covers = (...ids: string[]) => ids.map((id, n) => ({ id, display_order: n + 1 }));

it("isNumbered detects gaps and duplicate numbers", () => {
  expect(isNumbered(covers("a", "b"))).toBe(true);
  expect(isNumbered([])).toBe(true);
  expect(isNumbered(covers("a", "b").slice(1))).toBe(false);
  expect(isNumbered([...covers("a"), ...covers("b")])).toBe(false);
});

it.each([
  ["c", 1, "cab"],
  ["a", 2, "bac"],
  ["a", 3, "bca"],
  ["a", 900, "bca"],
  ["b", 2, "abc"],
])("idsAfterMove moves %s to number %d", (id, number, want) => {
  expect(idsAfterMove(covers("a", "b", "c"), id, number).join("")).toBe(want);
});

it("A-cov-11: puts covers into the order of the choice, whichever upload finishes first", () => {
  const chosen = new Map<string, number>();
  let ids = ["old"];
  for (const [id, place] of [
    ["third", 2],
    ["first", 0],
    ["fourth", 3],
    ["second", 1],
  ] as const) {
    chosen.set(id, place);
    ids = idsWithNewCover(covers(...ids, id), id, chosen);
  }
  expect(ids).toEqual(["old", "first", "second", "third", "fourth"]);
});
