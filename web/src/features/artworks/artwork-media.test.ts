import { expect, test } from "vitest";
import type { Product } from "@/lib/types";
import { artworkMedia } from "@/features/artworks/artwork-media";
import { aProduct } from "@/test/a-product";

test("main image, gallery images, then videos", () => {
  const product = aProduct({ image_url: "a", image_gallery: ["b", "c"], video_gallery: ["d"] });
  expect(artworkMedia(product)).toEqual([
    { kind: "image", url: "a" },
    { kind: "image", url: "b" },
    { kind: "image", url: "c" },
    { kind: "video", url: "d" },
  ]);
});

test("nothing twice, nothing empty", () => {
  const product = aProduct({ image_url: "a", image_gallery: ["a", "", "b"] });
  expect(artworkMedia(product).map((one) => one.url)).toEqual(["a", "b"]);
});

test("rows from before the lists existed", () => {
  const old = { ...aProduct({ image_url: null }), image_gallery: null, video_gallery: null };
  expect(artworkMedia(old as unknown as Product)).toEqual([]);
});
