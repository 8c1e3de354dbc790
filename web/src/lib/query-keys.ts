import type { GalleryFilter } from "@/lib/gallery-settings";

/**
 * The keys of the query cache. A key begins with the table, so that invalidating ["products"] invalidates all queries of
 * that table.
 */
export const queryKeys = {
  products: {
    all: ["products"] as const,
    /** The key of all pages of the featured works. The key of a page has the page's number at its end. */
    featured: ["products", "featured"] as const,
    featuredArtwork: (id: string) => ["products", "featured-work", id] as const,
    gallery: (filter: GalleryFilter) => ["products", "gallery", filter] as const,
    galleryPage: (filter: GalleryFilter, page: number) =>
      ["products", "gallery", filter, page] as const,
    galleryArtwork: (filter: GalleryFilter, id: string) =>
      ["products", "gallery-work", filter, id] as const,
    admin: ["products", "admin"] as const,
    count: ["products", "count"] as const,
  },
  reviews: {
    all: ["reviews"] as const,
    /** The key of all pages of the visible reviews. The key of a page has the page's number at its end. */
    active: ["reviews", "active"] as const,
    admin: ["reviews", "admin"] as const,
    count: ["reviews", "count"] as const,
  },
  covers: {
    all: ["cover_images"] as const,
    active: ["cover_images", "active"] as const,
    admin: ["cover_images", "admin"] as const,
    count: ["cover_images", "count"] as const,
  },
  settings: {
    admin: ["site_settings", "admin"] as const,
    guide: ["site_settings", "guide"] as const,
  },
  disk: ["disk"] as const,
  messages: {
    all: ["contact_submissions"] as const,
    admin: ["contact_submissions", "admin"] as const,
    count: ["contact_submissions", "count"] as const,
  },
};
