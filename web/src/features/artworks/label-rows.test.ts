import { describe, expect, test } from "vitest";
import { translator } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { labelRows } from "@/features/artworks/label-rows";
import { aProduct } from "@/test/a-product";

const en = { language: "en", t: translator("en") } as const;
const pt = { language: "pt", t: translator("pt") } as const;

describe("label rows", () => {
  test("contain all details, with the date in the language of the page, not shifted by the time zone", () => {
    const product = aProduct({
      artwork_type: "watercolour",
      dimensions: "46 × 60 cm",
      medium: "Watercolour on cotton paper",
      creation_date: "2024-03-01",
    });
    expect(labelRows(product, en).map((row) => row.text)).toEqual([
      "Watercolour",
      "46 × 60 cm",
      "Watercolour on cotton paper",
      "1 March 2024",
    ]);
    expect(labelRows(product, pt).at(-1)?.text).toBe("1 de março de 2024");
  });

  test("omit empty details and unknown types", () => {
    const unknown = {
      ...aProduct({ dimensions: " " }),
      artwork_type: "fresco",
    } as unknown as Product;
    expect(labelRows(unknown, en)).toEqual([]);
  });

  test("S9-texts: are in the language of the page, and mark those that are not", () => {
    const product = aProduct({ dimensions: "large", dimensions_pt: "grande", medium_pt: "Óleo" });
    expect(labelRows(product, pt).slice(1)).toEqual([
      { term: "gallery.dimensions", text: "grande" },
      { term: "gallery.medium", text: "Óleo" },
    ]);
    expect(labelRows(product, en).at(-1)).toEqual({
      term: "gallery.medium",
      text: "Óleo",
      lang: "pt",
    });
  });
});
