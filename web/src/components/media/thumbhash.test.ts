import { expect, it } from "vitest";
import { thumbHashToRGBA } from "thumbhash";

it("P-3: decodes the server's thumbhash of a picture twice as wide as high", () => {
  const hash = [
    28, 9, 10, 52, 154, 112, 135, 135, 112, 120, 119, 120, 136, 119, 128, 112, 7, 247, 119,
  ];
  const { w: width, h: height, rgba } = thumbHashToRGBA(Uint8Array.from(hash));
  expect([width, height, rgba.length]).toEqual([32, 18, 32 * 18 * 4]);
  // The values that the server's Go module decodes from the same bytes.
  const pixel = (x: number, y: number) => Array.from(rgba.slice((y * width + x) * 4).slice(0, 4));
  const near = (wanted: number[]) => wanted.map((n) => expect.closeTo(n, -0.5) as number);
  expect(pixel(0, 0)).toEqual(near([0, 20, 98, 255]));
  expect(pixel(31, 0)).toEqual(near([255, 15, 103, 255]));
  expect(pixel(0, 17)).toEqual(near([5, 255, 99, 255]));
  expect(pixel(16, 9)).toEqual(near([142, 126, 89, 255]));
});

it("decodes a uniform white picture, three parts wide and seven high", () => {
  const {
    w: width,
    h: height,
    rgba,
  } = thumbHashToRGBA(
    // Full lightness, both colour channels at zero, no cosine terms; portrait with three columns.
    Uint8Array.from([
      63 | ((32 & 3) << 6),
      (32 >> 2) | ((32 & 15) << 4),
      32 >> 4,
      3,
      0,
      ...Array<number>(12).fill(0),
    ]),
  );
  expect([width, height]).toEqual([14, 32]);
  expect(Math.min(...rgba)).toBeGreaterThan(245);
});

it("decodes transparent pixels", () => {
  const clear = Uint8Array.from([32, 8, 0x82, 7, 0, 0, ...Array<number>(18).fill(0)]);
  const { rgba } = thumbHashToRGBA(clear);
  expect(rgba[3]).toBe(0);
});
