import { expect, test } from "vitest";
import { translator } from "@/lib/i18n";
import {
  artworkAlt,
  artworkCaption,
  artworkHeading,
  artworkTitle,
} from "@/features/artworks/artwork-label";
import { aProduct } from "@/test/a-product";

const en = { language: "en", t: translator("en") } as const;
const pt = { language: "pt", t: translator("pt") } as const;

test("a work without a title is called untitled in the language of the page", () => {
  expect(artworkTitle(aProduct({ title: " " }), en)).toEqual({ text: "Untitled" });
  expect(artworkTitle(aProduct({ title: " " }), pt)).toEqual({ text: "Sem título" });
});

test("the document title is the SEO title if there is one", () => {
  const work = { title: "Romãs", seo_meta_title: " Romãs: still life " };
  expect(artworkHeading(aProduct(work), en)).toBe("Romãs: still life");
  expect(artworkHeading(aProduct({ ...work, seo_meta_title: " " }), en)).toBe("Romãs");
  expect(artworkHeading(aProduct({ title: "", seo_meta_title: null }), pt)).toBe("Sem título");
});

test("S2-gallery-1: the caption is the medium, else the type", () => {
  expect(artworkCaption(aProduct({ medium: "Óleo" }), pt)).toEqual({ text: "Óleo" });
  expect(artworkCaption(aProduct({ medium: null }), pt)).toEqual({ text: "Pintura digital" });
});

test("S9-texts: title, medium and alternative texts are in the language of the page, or in the other one with its language", () => {
  const work = aProduct({
    title: "Pomegranates",
    title_pt: "Romãs",
    medium: "Oil",
    alt_texts: { a: { en: "Three fruits" }, b: { en: "A knife", pt: "Uma faca" } },
  });
  expect(artworkTitle(work, en)).toEqual({ text: "Pomegranates" });
  expect(artworkTitle(work, pt)).toEqual({ text: "Romãs" });
  expect(artworkTitle(aProduct({ title: " ", title_pt: "Romãs" }), en)).toEqual({
    text: "Romãs",
    lang: "pt",
  });
  expect(artworkCaption(work, pt)).toEqual({ text: "Oil", lang: "en" });
  expect(artworkAlt(work, "a", pt.language)).toEqual({ text: "Three fruits", lang: "en" });
  expect(artworkAlt(work, "b", pt.language)).toEqual({ text: "Uma faca" });
  expect(artworkAlt(work, "c", pt.language)).toEqual({ text: "" });
  expect(artworkAlt(aProduct({ image_url: null }), null, "en")).toEqual({ text: "" });
});

test("a title in the language of the page comes before an SEO title in the other one", () => {
  const work = aProduct({ title: "Sun", title_pt: "Sol", seo_meta_title: "Winter sun" });
  expect(artworkHeading(work, en)).toBe("Winter sun");
  expect(artworkHeading(work, pt)).toBe("Sol");
  expect(artworkHeading({ ...work, title_pt: null }, pt)).toBe("Winter sun");
});
