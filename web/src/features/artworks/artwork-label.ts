import type { Translate } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import type { ArtworkType, Product } from "@/lib/types";

// The texts of a work (a row of the table products) as the public pages show them.

const typeKeys: Record<ArtworkType, Key> = {
  digital: "type.digital",
  watercolour: "type.watercolour",
  mural: "type.mural",
  oil: "type.oil",
  acrylic: "type.acrylic",
};

/** The title of a work, or "untitled" in the language of the page. */
export function artworkTitle(product: Product, t: Translate): string {
  return product.title.trim() || t("gallery.untitled");
}

/** The first part of the document title while a work is open: its SEO title, else its title. */
export function artworkHeading(product: Product, t: Translate): string {
  return product.seo_meta_title?.trim() || artworkTitle(product, t);
}

/** The name of the type of a work. Empty for an unknown type. Another client may have stored one. */
export function artworkType(product: Product, t: Translate): string {
  const key = typeKeys[product.artwork_type];
  return key ? t(key) : "";
}

/** The caption under the title: the medium, else the type. */
export function artworkCaption(product: Product, t: Translate): string {
  return product.medium?.trim() || artworkType(product, t);
}
