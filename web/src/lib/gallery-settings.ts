/** A type of work, as the column artwork_type stores it. */
export type ArtworkType = "digital" | "watercolour" | "mural" | "oil" | "acrylic";

/** A filter of the gallery: all works, or one type. */
export type GalleryFilter = "all" | ArtworkType;

/** An order of works, as the REST parameter `order`: newest first, or by hand. */
export type WorksOrder = "created_at.desc" | "position.asc";

/** What the owner has chosen for the gallery and the featured strip, the carousel of works on the home page. */
export type GallerySettings = {
  /** The types whose works are in the gallery, in the order of their filter buttons. */
  types: ArtworkType[];
  order: WorksOrder;
  /** The order of the featured strip; missing or "" if it is the gallery's order. */
  strip?: WorksOrder | "";
  /** Whether types without a work have no filter button. */
  hideEmpty: boolean;
};

/** The gallery of a site on which the owner has chosen nothing. */
export const DEFAULT_GALLERY: GallerySettings = {
  types: ["digital", "mural", "watercolour"],
  order: "created_at.desc",
  hideEmpty: false,
};
