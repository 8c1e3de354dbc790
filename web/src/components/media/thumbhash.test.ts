import { expect, it } from "vitest";
import { decodeThumbhash } from "@/components/media/thumbhash";

it("decodes what the server makes of a picture twice as wide as high", () => {
  const hash = [
    28, 9, 10, 52, 154, 112, 135, 135, 112, 120, 119, 120, 136, 119, 128, 112, 7, 247, 119,
  ];
  const { width, height, rgba } = decodeThumbhash(Uint8Array.from(hash));
  expect([width, height, rgba.length]).toEqual([32, 18, 32 * 18 * 4]);
  // What the server's own module paints from the same bytes.
  const pixel = (x: number, y: number) => Array.from(rgba.slice((y * width + x) * 4).slice(0, 4));
  const near = (wanted: number[]) => wanted.map((n) => expect.closeTo(n, -0.5) as number);
  expect(pixel(0, 0)).toEqual(near([0, 20, 98, 255]));
  expect(pixel(31, 0)).toEqual(near([255, 15, 103, 255]));
  expect(pixel(0, 17)).toEqual(near([5, 255, 99, 255]));
  expect(pixel(16, 9)).toEqual(near([142, 126, 89, 255]));
});

it("keeps a flat colour flat: white, three parts wide and seven high", () => {
  const { width, height, rgba } = decodeThumbhash(
    // Lightness full, both colour channels in the middle, no waves; the tail says portrait with three columns.
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

it("says where nothing is painted", () => {
  const clear = Uint8Array.from([32, 8, 0x82, 7, 0, 0, ...Array<number>(18).fill(0)]);
  const { rgba } = decodeThumbhash(clear);
  expect(rgba[3]).toBe(0);
});
