import { describe, expect, test } from "vitest";
import { translator } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import {
  artworkCaption,
  artworkHeading,
  artworkTitle,
  labelRows,
} from "@/features/artworks/artwork-label";
import { aProduct } from "@/test/a-product";

const en = translator("en");
const pt = translator("pt");

test("a work without a title is called untitled in the language of the page", () => {
  expect(artworkTitle(aProduct({ title: " " }), en)).toBe("Untitled");
  expect(artworkTitle(aProduct({ title: " " }), pt)).toBe("Sem título");
});

test("the document title is the SEO title if there is one", () => {
  const work = { title: "Romãs", seo_meta_title: " Romãs: still life " };
  expect(artworkHeading(aProduct(work), en)).toBe("Romãs: still life");
  expect(artworkHeading(aProduct({ ...work, seo_meta_title: " " }), en)).toBe("Romãs");
  expect(artworkHeading(aProduct({ title: "", seo_meta_title: null }), pt)).toBe("Sem título");
});

test("S2-gallery-1: the caption is the medium, else the type", () => {
  expect(artworkCaption(aProduct({ medium: "Óleo" }), pt)).toBe("Óleo");
  expect(artworkCaption(aProduct({ medium: null }), pt)).toBe("Pintura digital");
});

describe("label rows", () => {
  test("contain all details, with the date in the language of the page, not shifted by the time zone", () => {
    const product = aProduct({
      artwork_type: "watercolour",
      dimensions: "46 × 60 cm",
      medium: "Watercolour on cotton paper",
      creation_date: "2024-03-01",
    });
    expect(labelRows(product, en, "en").map((row) => row.text)).toEqual([
      "Watercolour",
      "46 × 60 cm",
      "Watercolour on cotton paper",
      "1 March 2024",
    ]);
    expect(labelRows(product, pt, "pt").at(-1)?.text).toBe("1 de março de 2024");
  });

  test("omit empty details and unknown types", () => {
    const unknown = {
      ...aProduct({ dimensions: " " }),
      artwork_type: "fresco",
    } as unknown as Product;
    expect(labelRows(unknown, en, "en")).toEqual([]);
  });
});
