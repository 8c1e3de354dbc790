import type { GalleryFilter } from "@/lib/gallery-settings";
import type { TextKey } from "@/lib/texts";
import type { ArtworkType } from "@/lib/types";

/** The filter for the `:type` of the route. A type that is not in the gallery shows all works (docs/product.md, rule 25). */
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
