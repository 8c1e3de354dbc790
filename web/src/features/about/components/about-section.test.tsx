import { expect, it } from "vitest";
import { AboutSection } from "@/features/about/components/about-section";
import type { ImageInfo } from "@/lib/media";
import { renderApp, testBoot } from "@/test/render";

const portrait = "http://backend.test/storage/v1/object/public/product-images/me.jpg";
const info = (width: number, height: number): ImageInfo => ({
  kind: "image",
  v: "0",
  width,
  height,
  widths: [320, width],
});

it.each([
  ["four by five", 1200, 1500, 4 / 5],
  ["broad: filled, without bars", 3000, 1500, 6 / 5],
  ["a strip", 500, 3000, 2 / 3],
])("S2-home-9: the portrait fills its frame: %s", (_, width, height, shape) => {
  const { container } = renderApp(<AboutSection />, {
    boot: { site: { ...testBoot.site, portrait }, media: { [portrait]: info(width, height) } },
  });
  const image = container.querySelector("img")!;
  expect(image).toHaveClass("object-cover", "size-full");
  const frame = image.closest<HTMLElement>("[style*='--shape']")!;
  expect(Number(frame.style.getPropertyValue("--shape"))).toBeCloseTo(shape);
});
