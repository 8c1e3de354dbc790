import { describe, expect, it } from "vitest";
import {
  altTextsOf,
  formValues,
  parseTags,
  productPayload,
  productSchema,
} from "@/features/admin-products/schema";
import type { Product } from "@/lib/types";

const media = { image_url: "/m.jpg", image_gallery: ["/a.jpg"], video_gallery: [] };

const stored: Product = {
  id: "p1",
  title: "Limoeiro",
  description: "Lemons",
  artwork_type: "watercolour",
  image_url: "/m.jpg",
  image_gallery: ["/a.jpg"],
  video_gallery: [],
  is_featured: true,
  in_stock: false,
  dimensions: "46 × 61 cm",
  medium: "Watercolour on cotton paper",
  creation_date: "2024-05-20",
  tags: ["lemons", "garden"],
  is_customizable: true,
  seo_meta_title: "Limoeiro",
  seo_meta_desc: null,
  price: 120,
  created_at: "2026-01-02T03:04:05Z",
};

describe("productSchema", () => {
  it("requires only a title", () => {
    expect(productSchema.safeParse({ ...formValues(null), title: "Mar" }).success).toBe(true);
    for (const title of ["", "   "]) {
      const result = productSchema.safeParse({ ...formValues(null), title });
      expect(result.error?.issues.map(({ message }) => message)).toEqual([
        "products.titleRequired",
      ]);
    }
  });
});

describe("formValues", () => {
  it("starts a new work in stock and not featured", () => {
    expect(formValues(null)).toMatchObject({ in_stock: true, is_featured: false, tags: "" });
  });

  it("shows the stored values, and an empty field for null", () => {
    expect(formValues(stored)).toMatchObject({
      tags: "lemons, garden",
      creation_date: "2024-05-20",
      in_stock: false,
      seo_meta_desc: "",
    });
  });
});

describe("productPayload", () => {
  it("A-prod-7: always saves the price as 0, and all other values unchanged", () => {
    const { id, created_at, ...rest } = stored;
    const texts = {
      title_pt: "Limoeiro",
      description_pt: null,
      dimensions_pt: null,
      medium_pt: "Aguarela",
      seo_meta_title_pt: null,
      seo_meta_desc_pt: null,
      alt_texts: { "/a.jpg": { pt: "Um limão" } },
    };
    expect(productPayload(formValues({ ...stored, ...texts }), media)).toEqual({
      ...rest,
      ...texts,
      price: 0,
    });
    expect([id, created_at]).toBeDefined();
  });

  it("trims texts, and sends null for empty ones", () => {
    const payload = productPayload(
      { ...formValues(null), title: "  Mar  ", medium: " " },
      {
        ...media,
        image_url: null,
      },
    );
    expect(payload).toMatchObject({
      title: "Mar",
      medium: null,
      description: null,
      creation_date: null,
      image_url: null,
      tags: [],
      title_pt: null,
      alt_texts: null,
    });
  });

  it("A-alt-texts: keeps only the alternative texts of the work's pictures, as the server stores them", () => {
    const texts = {
      "/a.jpg": { en: " Lemons ", pt: " " },
      "/m.jpg": { en: "" },
      "/removed.jpg": { en: "Gone" },
    };
    expect(altTextsOf(texts, media)).toEqual({ "/a.jpg": { en: "Lemons" } });
    expect(altTextsOf(texts, { ...media, image_gallery: [] })).toBeNull();
  });
});

it("reads tags separated by commas", () => {
  expect(parseTags(" roofs, city ,, morning, city ")).toEqual(["roofs", "city", "morning"]);
  expect(parseTags("")).toEqual([]);
});
