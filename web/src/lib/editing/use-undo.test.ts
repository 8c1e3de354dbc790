import { expect, it } from "vitest";
import { undoneOrder } from "@/lib/editing/use-undo";
import { ConflictError } from "@/lib/editing/update-if-unchanged";

const change = { before: ["a", "b", "c"], after: ["b", "c", "a"] };

it.each([
  ["the same rows", ["b", "c", "a"], ["a", "b", "c"]],
  ["a new row", ["b", "c", "a", "d"], ["a", "b", "c"]],
  ["a row less", ["b", "a"], ["a", "b"]],
])("undoneOrder: %s", (_, current, ids) => expect(undoneOrder(current, change)).toEqual(ids));

it("undoneOrder treats rows that were moved again as a conflict", () => {
  expect(() => undoneOrder(["c", "b", "a"], change)).toThrow(ConflictError);
});
