import type { Language } from "@/lib/boot";
import { longDate } from "@/lib/dates";
import type { Translate } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import type { ArtworkType, Product } from "@/lib/types";

const typeKeys: Record<ArtworkType, Key> = {
  digital: "type.digital",
  watercolour: "type.watercolour",
  mural: "type.mural",
  oil: "type.oil",
  acrylic: "type.acrylic",
};

/** Titles are not translated; a work without one is called so in the reader's language. */
export function artworkTitle(product: Product, t: Translate): string {
  return product.title.trim() || t("gallery.untitled");
}

/** What the tab says while the work is open: the owner's own title for it, where there is one. */
export function artworkHeading(product: Product, t: Translate): string {
  return product.seo_meta_title?.trim() || artworkTitle(product, t);
}

/** The column may be empty or, from another writer, hold a type that we have no word for. */
export function artworkType(product: Product, t: Translate): string {
  const key = typeKeys[product.artwork_type];
  return key ? t(key) : "";
}

/** The line under the title: the medium, or the type when there is none. */
export function artworkCaption(product: Product, t: Translate): string {
  return product.medium?.trim() || artworkType(product, t);
}

export type LabelRow = { term: Key; text: string };

/** The ruled list on the wall label; empty rows are left out. */
export function labelRows(product: Product, t: Translate, language: Language): LabelRow[] {
  const rows: LabelRow[] = [
    { term: "gallery.type", text: artworkType(product, t) },
    { term: "gallery.dimensions", text: product.dimensions?.trim() ?? "" },
    { term: "gallery.medium", text: product.medium?.trim() ?? "" },
    {
      term: "gallery.creationDate",
      text: product.creation_date ? longDate(product.creation_date, language) : "",
    },
  ];
  return rows.filter((row) => row.text !== "");
}
