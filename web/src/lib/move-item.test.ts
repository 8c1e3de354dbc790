import { expect, it } from "vitest";
import { moveItem } from "@/lib/move-item";

it("moves items within the bounds of the list", () => {
  expect(moveItem(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
  expect(moveItem(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  expect(moveItem(["a", "b", "c"], 0, -1)).toEqual(["a", "b", "c"]);
  expect(moveItem(["a", "b", "c"], 0, 9)).toEqual(["b", "c", "a"]);
  expect(moveItem(["a", "b"], -1, 0)).toEqual(["a", "b"]);
});
