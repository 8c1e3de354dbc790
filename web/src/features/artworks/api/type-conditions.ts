import type { PublicBackend } from "@/lib/backend";
import { ARTWORK_TYPES } from "@/lib/constants";
import type { GalleryFilter } from "@/lib/gallery-settings";

/**
 * The REST conditions of a filter (all works, or one type) on the column artwork_type, as pairs of column and condition:
 * 1. selects the types that the owner shows in the gallery (docs/product.md, rule 26 and rule 58)
 * 2. selects the filter's type; missing for all works
 * Example: `not.in.(oil,acrylic)` and `eq.mural`. internal/pages/site_pages.go makes the same strings.
 */
export function typeConditions({ boot }: PublicBackend, filter: GalleryFilter): [string, string][] {
  const { types } = boot.site.gallery;
  const hidden = ARTWORK_TYPES.filter((type) => !types.includes(type));
  const galleryTypes: [string, string] = [
    "artwork_type",
    hidden.length > 0 ? `not.in.(${hidden.join(",")})` : "not.is.null",
  ];
  return filter === "all" ? [galleryTypes] : [galleryTypes, ["artwork_type", `eq.${filter}`]];
}
