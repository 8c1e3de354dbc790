import { longDate } from "@/lib/dates";
import { rowText, type LocalText } from "@/lib/local-text";
import type { TextKey } from "@/lib/texts";
import type { Product } from "@/lib/types";
import { artworkType, type PageLanguage } from "@/features/artworks/artwork-label";

/** A row of the list of a work's details. `term` is the text key of its heading. */
export type LabelRow = LocalText & { term: TextKey };

/** The details of a work for its dialog: type, dimensions, medium and date. Details that the owner has not filled in are omitted. */
export function labelRows(product: Product, { language, t }: PageLanguage): LabelRow[] {
  const rows: LabelRow[] = [
    { term: "gallery.type", text: artworkType(product, t) },
    {
      term: "gallery.dimensions",
      ...rowText(language, product, "dimensions"),
    },
    { term: "gallery.medium", ...rowText(language, product, "medium") },
    {
      term: "gallery.creationDate",
      text: product.creation_date ? longDate(product.creation_date, language) : "",
    },
  ];
  return rows.filter((row) => row.text !== "");
}
