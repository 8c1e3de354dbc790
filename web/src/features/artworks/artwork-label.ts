import type { Language } from "@/lib/boot";
import type { Translate } from "@/lib/i18n";
import { localText, rowText, type LocalText } from "@/lib/local-text";
import type { TextKey } from "@/lib/texts";
import type { ArtworkType, Product } from "@/lib/types";

// The texts of a work (a row of the table products) as the public pages show them.

const typeKeys: Record<ArtworkType, TextKey> = {
  digital: "type.digital",
  watercolour: "type.watercolour",
  mural: "type.mural",
  oil: "type.oil",
  acrylic: "type.acrylic",
};

/** The language of a page, and `t`, the function that translates text keys into it. */
export type PageLanguage = { language: Language; t: Translate };

/** Replaces an empty title by "untitled" in the language of the page. */
const orUntitled = (title: LocalText, t: Translate): LocalText =>
  title.text ? title : { text: t("gallery.untitled") };

/** The title of a work, or "untitled" in the language of the page. */
export function artworkTitle(product: Product, { language, t }: PageLanguage): LocalText {
  return orUntitled(rowText(language, product, "title"), t);
}

/** The first part of the document title while a work is open: its SEO title, else its title. */
export function artworkHeading(product: Product, { language, t }: PageLanguage): string {
  return orUntitled(rowText(language, product, "seo_meta_title", "title"), t).text;
}

/** The name of the type of a work; "" for an unknown type, which another client may have stored. */
export function artworkType(product: Product, t: Translate): string {
  const key = typeKeys[product.artwork_type];
  return key ? t(key) : "";
}

/** The caption under the title of a work: its medium, or its type if it has no medium. */
export function artworkCaption(product: Product, { language, t }: PageLanguage): LocalText {
  const medium = rowText(language, product, "medium");
  return medium.text ? medium : { text: artworkType(product, t) };
}

/** The owner's alternative text of the picture `url` of a work. Its text is "" if there is none. */
export function artworkAlt(product: Product, url: string | null, language: Language): LocalText {
  const texts = product.alt_texts?.[url!];
  return localText(language, texts?.en, texts?.pt);
}
