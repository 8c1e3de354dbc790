import type { GalleryFilter } from "@/lib/gallery-settings";
import type { TextKey } from "@/lib/texts";
import type { ArtworkType } from "@/lib/types";

/**
 * Returns the filter for the `:type` of the route. For a type that the gallery does not show, it is "all"
 * (docs/product.md, rule 25). `types` has the types that the gallery shows.
 */
export function parseFilter(
  type: string | undefined,
  types: readonly ArtworkType[],
): GalleryFilter {
  return types.find((filter) => filter === type) ?? "all";
}

/** The text keys of the filters. */
export const filterKeys: Record<GalleryFilter, TextKey> = {
  all: "gallery.filter.all",
  digital: "gallery.filter.digital",
  mural: "gallery.filter.mural",
  watercolour: "gallery.filter.watercolour",
  oil: "type.oil",
  acrylic: "type.acrylic",
};
