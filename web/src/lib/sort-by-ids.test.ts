import { expect, it } from "vitest";
import { sortByIds } from "@/lib/sort-by-ids";

const row = (id: string, display_order: number | null) => ({ id, display_order });

it("numbers the requested order", () => {
  expect(sortByIds([row("a", 1), row("b", 2), row("c", null)], ["c", "a", "b"], 1)).toEqual([
    row("c", 1),
    row("a", 2),
    row("b", 3),
  ]);
});

it("puts a row that was added meanwhile last", () => {
  const rows = sortByIds([row("new", 1), row("a", 2), row("b", 3)], ["b", "a"], 1);
  expect(rows.map(({ id }) => id)).toEqual(["b", "a", "new"]);
});
