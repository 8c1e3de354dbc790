import { expect, test } from "vitest";
import { translator } from "@/lib/i18n";
import { artworkCaption, artworkHeading, artworkTitle } from "@/features/artworks/artwork-label";
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
