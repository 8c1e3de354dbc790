import { expect, it } from "vitest";
import { fitWithin } from "@/components/upload/fit-within";
import type { ImageInfo } from "@/lib/media";

const wide: ImageInfo = { kind: "image", v: "0", width: 700, height: 350, widths: [700] };

it("keeps the aspect ratio of a picture that is fitted into a box", () => {
  const box = { width: 118, height: 92 };
  expect(fitWithin(box, wide)).toEqual({ width: 118, height: "auto" });
  expect(fitWithin(box, { ...wide, width: 350, height: 700 })).toEqual({
    width: 46,
    height: "auto",
  });
});
