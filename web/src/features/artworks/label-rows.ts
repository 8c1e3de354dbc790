import type { Language } from "@/lib/boot";
import { longDate } from "@/lib/dates";
import type { Translate } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import type { Product } from "@/lib/types";
import { artworkType } from "@/features/artworks/artwork-label";

export type LabelRow = { term: Key; text: string };

/** The rows of the list of a work's details. Details that the owner has not filled in are omitted. */
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
