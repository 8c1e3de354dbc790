import { describe, expect, test } from "vitest";
import {
  CAPTION_PX,
  gridOf,
  indexAt,
  indexesIn,
  moveTo,
  placeAt,
  rowsOf,
} from "@/features/admin-products/wall/geometry";

const grid = gridOf(800); // five columns of 160 px
const height = 160 + CAPTION_PX;

test("a phone has two columns, a desktop more, and the smallest width one", () => {
  expect(gridOf(350).columns).toBe(2);
  expect(gridOf(1296).columns).toBe(8);
  expect(gridOf(100).columns).toBe(1);
  expect(rowsOf(grid, 11)).toBe(3);
  expect(rowsOf(grid, 0)).toBe(0);
});

describe("the work at a point", () => {
  test.each([
    [10, 10, 0],
    [170, 10, 1],
    [799, height + 1, 9],
    [900, 10, 4],
    [10, 5000, 10], // below the last row
    [-5, -5, 0],
  ])("%i, %i is the one with the index %i", (x, y, index) => {
    expect(indexAt(grid, { x, y }, 11)).toBe(index);
  });
});

describe("the place at a point", () => {
  test.each([
    [10, 10, 0],
    [90, 10, 1],
    [790, 10, 5],
    [10, height + 1, 5],
    [400, 5000, 11],
  ])("%i, %i is %i", (x, y, place) => {
    expect(placeAt(grid, { x, y }, 11)).toBe(place);
  });
});

test("a rectangle selects all cells that it touches, in whichever direction it was drawn", () => {
  const a = { x: 100, y: 20 };
  const b = { x: 330, y: height + 5 };
  expect(indexesIn(grid, a, b, 11)).toEqual([0, 1, 2, 5, 6, 7]);
  expect(indexesIn(grid, b, a, 11)).toEqual([0, 1, 2, 5, 6, 7]);
  expect(indexesIn(grid, a, { x: 330, y: 9999 }, 11)).toEqual([0, 1, 2, 5, 6, 7, 10]);
});

test("works move together, in the order in which they were selected", () => {
  const list = ["a", "b", "c", "d", "e"];
  expect(moveTo(list, new Set(["e"]), 0)).toEqual(["e", "a", "b", "c", "d"]);
  expect(moveTo(list, new Set(["d", "a"]), 3)).toEqual(["b", "c", "d", "a", "e"]);
  expect(moveTo(list, new Set(["b"]), 5)).toEqual(["a", "c", "d", "e", "b"]);
  expect(moveTo(list, new Set(["b"]), 1)).toEqual(list);
});
