import { expect, test } from "vitest";
import { movesBack, orderAfter } from "@/lib/place-of";
import type { MoveArgs } from "@/lib/types";

test("rows that followed each other are put back by one move, from the first place on", () => {
  const before = ["a", "b", "c", "d", "e", "f"];
  expect(movesBack(before, ["e", "b", "a", "d"])).toEqual([
    { ids: ["a", "b"], place: "first", target: null },
    { ids: ["d", "e"], place: "after", target: "c" },
  ]);
  expect(movesBack(before, ["f"])).toEqual([{ ids: ["f"], place: "after", target: "e" }]);
});

test.each([
  ["first", null, ["d", "b", "a", "c"]],
  ["last", null, ["a", "c", "d", "b"]],
  ["before", "c", ["a", "d", "b", "c"]],
  ["after", "a", ["a", "d", "b", "c"]],
] as const)("orderAfter: a move to %s", (place, target, order) => {
  const args = { ids: ["d", "b"], place, target } as MoveArgs;
  expect(orderAfter(["a", "b", "c", "d"], args)).toEqual(order);
});
