import { expect, it } from "vitest";
import { wholeIn } from "@/components/upload/whole-in";
import type { ImageInfo } from "@/lib/media";

const wide: ImageInfo = { kind: "image", v: "0", width: 700, height: 350, widths: [700] };

it("keeps the shape of a picture that is whole in a box", () => {
  const box = { width: 118, height: 92 };
  expect(wholeIn(box, wide)).toEqual({ width: 118, height: "auto" });
  expect(wholeIn(box, { ...wide, width: 350, height: 700 })).toEqual({ width: 46, height: "auto" });
});
