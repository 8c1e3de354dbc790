import { GALLERY_FILTERS, type GalleryFilter } from "@/lib/constants";
import type { Key } from "@/lib/texts";

/** The filter for the `:type` of the route; an unknown type shows all works (docs/product.md, rule 25). */
export function parseFilter(type: string | undefined): GalleryFilter {
  return GALLERY_FILTERS.find((filter) => filter === type) ?? "all";
}

/** The text keys of the filters. */
export const filterKeys: Record<GalleryFilter, Key> = {
  all: "gallery.filter.all",
  digital: "gallery.filter.digital",
  mural: "gallery.filter.mural",
  watercolour: "gallery.filter.watercolour",
};
