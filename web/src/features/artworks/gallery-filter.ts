import { GALLERY_FILTERS, type GalleryFilter } from "@/lib/constants";
import type { Key } from "@/lib/texts";

/** The route's type; anything unknown shows everything (specification §2). */
export function parseFilter(type: string | undefined): GalleryFilter {
  return GALLERY_FILTERS.find((filter) => filter === type) ?? "all";
}

export const filterKeys: Record<GalleryFilter, Key> = {
  all: "gallery.filter.all",
  digital: "gallery.filter.digital",
  mural: "gallery.filter.mural",
  watercolour: "gallery.filter.watercolour",
};
