import { describe, expect, it } from "vitest";
import {
  fitSize,
  maxScale,
  clampTransform,
  zoomAt,
  tileBox,
  visibleTiles,
  fullTransform,
} from "@/features/artworks/zoom-transform";

const work = { width: 8000, height: 6000 };
const stage = { width: 1000, height: 600 };

it("fits the whole work, at most at its size in pixels", () => {
  expect(fitSize(work, stage)).toEqual({ width: 800, height: 600 });
  expect(fitSize({ width: 100, height: 50 }, stage)).toEqual({ width: 100, height: 50 });
});

it("limits the scale to two CSS pixels for each pixel of the work", () => {
  expect(maxScale(work, { width: 800, height: 600 })).toBe(20);
  expect(clampTransform({ scale: 99, x: 0, y: 0 }, work, stage).scale).toBe(20);
  expect(clampTransform({ scale: 0.2, x: 0, y: 0 }, work, stage).scale).toBe(1);
});

it("keeps the work on the stage", () => {
  expect(clampTransform({ scale: 1, x: 50, y: -50 }, work, stage)).toEqual({
    ...fullTransform,
    y: 0,
    x: 0,
  });
  expect(clampTransform({ scale: 2, x: 900, y: -900 }, work, stage)).toEqual({
    scale: 2,
    x: 300,
    y: -300,
  });
});

it("keeps the point under the pointer in its place", () => {
  const at = { x: 100, y: 50 };
  const before = { scale: 2, x: 40, y: 20 };
  const after = zoomAt(before, 2, at, work, stage);
  expect(after.scale).toBe(4);
  expect((at.x - after.x) / after.scale).toBeCloseTo((at.x - before.x) / before.scale);
  expect((at.y - after.y) / after.scale).toBeCloseTo((at.y - before.y) / before.scale);
});

describe("tiles", () => {
  it("are only those on the stage", () => {
    // At scale 10, one CSS pixel is one pixel of the work, so 1000 × 600 pixels around the centre are visible.
    expect(visibleTiles({ scale: 10, x: 0, y: 0 }, work, stage)).toEqual([
      { column: 3, row: 2 },
      { column: 4, row: 2 },
      { column: 3, row: 3 },
      { column: 4, row: 3 },
    ]);
  });
  it("end with the work", () => {
    const last = visibleTiles({ scale: 20, x: -7500, y: -5700 }, work, stage).at(-1);
    expect(last).toEqual({ column: 7, row: 5 });
    expect(tileBox(last!, work)).toEqual({
      left: "89.6000%",
      top: "85.3333%",
      width: "10.4000%",
      height: "14.6667%",
    });
  });
});
