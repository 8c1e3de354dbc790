import { expect, test } from "vitest";
import type { Product } from "@/lib/types";
import { artworkMedia } from "@/features/artworks/artwork-media";
import { aProduct } from "@/test/a-product";

test("the main image, the gallery images, then the films", () => {
  const product = aProduct({ image_url: "a", image_gallery: ["b", "c"], video_gallery: ["d"] });
  expect(artworkMedia(product)).toEqual([
    { kind: "image", url: "a" },
    { kind: "image", url: "b" },
    { kind: "image", url: "c" },
    { kind: "video", url: "d" },
  ]);
});

test("omits duplicates and empty addresses", () => {
  const product = aProduct({ image_url: "a", image_gallery: ["a", "", "b"] });
  expect(artworkMedia(product).map((one) => one.url)).toEqual(["a", "b"]);
});

test("accepts old rows whose lists are null", () => {
  const old = { ...aProduct({ image_url: null }), image_gallery: null, video_gallery: null };
  expect(artworkMedia(old as unknown as Product)).toEqual([]);
});
