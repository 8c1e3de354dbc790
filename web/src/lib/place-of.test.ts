import { expect, test } from "vitest";
import { movesBack } from "@/lib/place-of";

test("rows that followed each other are put back by one move, from the first place on", () => {
  const before = ["a", "b", "c", "d", "e", "f"];
  expect(movesBack(before, ["e", "b", "a", "d"])).toEqual([
    { ids: ["a", "b"], place: "first", target: null },
    { ids: ["d", "e"], place: "after", target: "c" },
  ]);
  expect(movesBack(before, ["f"])).toEqual([{ ids: ["f"], place: "after", target: "e" }]);
});
