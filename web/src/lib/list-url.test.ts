import { expect, it } from "vitest";
import { pageCount } from "@/lib/list-url";

it("computes the number of pages", () => {
  expect([0, 50, 51, 5000].map(pageCount)).toEqual([1, 1, 2, 100]);
});
