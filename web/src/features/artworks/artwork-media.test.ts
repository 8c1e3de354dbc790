import { expect, test } from "vitest";
import type { Product } from "@/lib/types";
import { artworkMedia } from "@/features/artworks/artwork-media";
import { aProduct } from "@/test/a-product";

test("the main image, the gallery images, then the videos", () => {
  const product = aProduct({
    image_url: "a",
    image_gallery: ["b", "c"],
    video_gallery: ["d"],
    alt_texts: { b: { pt: "Uma faca" } },
  });
  expect(artworkMedia(product, "en")).toEqual([
    { kind: "image", url: "a", alt: { text: "" } },
    { kind: "image", url: "b", alt: { text: "Uma faca", lang: "pt" } },
    { kind: "image", url: "c", alt: { text: "" } },
    { kind: "video", url: "d" },
  ]);
});

test("omits duplicates and empty URLs", () => {
  const product = aProduct({ image_url: "a", image_gallery: ["a", "", "b"] });
  expect(artworkMedia(product, "en").map((one) => one.url)).toEqual(["a", "b"]);
});

test("accepts old rows whose lists are null", () => {
  const old = { ...aProduct({ image_url: null }), image_gallery: null, video_gallery: null };
  expect(artworkMedia(old as unknown as Product, "en")).toEqual([]);
});
