import { describe, expect, it } from "vitest";
import {
  fitted,
  furthest,
  held,
  magnified,
  tileBox,
  tilesOn,
  whole,
} from "@/features/artworks/zoom-view";

const work = { width: 8000, height: 6000 };
const stage = { width: 1000, height: 600 };

it("shows the whole work, never larger than its own pixels", () => {
  expect(fitted(work, stage)).toEqual({ width: 800, height: 600 });
  expect(fitted({ width: 100, height: 50 }, stage)).toEqual({ width: 100, height: 50 });
});

it("goes until a pixel of the work is two of the page", () => {
  expect(furthest(work, { width: 800, height: 600 })).toBe(20);
  expect(held({ scale: 99, x: 0, y: 0 }, work, stage).scale).toBe(20);
  expect(held({ scale: 0.2, x: 0, y: 0 }, work, stage).scale).toBe(1);
});

it("keeps the work on the stage", () => {
  expect(held({ scale: 1, x: 50, y: -50 }, work, stage)).toEqual({ ...whole, y: 0, x: 0 });
  expect(held({ scale: 2, x: 900, y: -900 }, work, stage)).toEqual({ scale: 2, x: 300, y: -300 });
});

it("leaves in place what lies under the pointer", () => {
  const at = { x: 100, y: 50 };
  const before = { scale: 2, x: 40, y: 20 };
  const after = magnified(before, 2, at, work, stage);
  expect(after.scale).toBe(4);
  expect((at.x - after.x) / after.scale).toBeCloseTo((at.x - before.x) / before.scale);
  expect((at.y - after.y) / after.scale).toBeCloseTo((at.y - before.y) / before.scale);
});

describe("tiles", () => {
  it("are those on the stage alone", () => {
    // At 10 times a page's pixel is one of the work: 1000 × 600 of them around the middle.
    expect(tilesOn({ scale: 10, x: 0, y: 0 }, work, stage)).toEqual([
      { column: 3, row: 2 },
      { column: 4, row: 2 },
      { column: 3, row: 3 },
      { column: 4, row: 3 },
    ]);
  });
  it("end with the work", () => {
    const last = tilesOn({ scale: 20, x: -7500, y: -5700 }, work, stage).at(-1);
    expect(last).toEqual({ column: 7, row: 5 });
    expect(tileBox(last!, work)).toEqual({
      left: "89.6000%",
      top: "85.3333%",
      width: "10.4000%",
      height: "14.6667%",
    });
  });
});
