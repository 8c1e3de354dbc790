import type { Key } from "@/lib/texts";

export const galleryTargets: readonly { key: Key; to: string }[] = [
  { key: "nav.allPaintings", to: "/gallery/all" },
  { key: "nav.digitalPainting", to: "/gallery/digital" },
  { key: "nav.mural", to: "/gallery/mural" },
  { key: "nav.watercolour", to: "/gallery/watercolour" },
];

/** Sections of the home page, by their anchor ids. */
export const sectionTargets: readonly { key: Key; id: string }[] = [
  { key: "nav.about", id: "about" },
  { key: "nav.testimonials", id: "testimonials" },
  { key: "nav.contact", id: "contact" },
];

export const adminTargets: readonly { key: Key; to: string }[] = [
  { key: "nav.overview", to: "/admin" },
  { key: "nav.products", to: "/admin/products" },
  { key: "nav.coverImages", to: "/admin/cover-images" },
  { key: "nav.reviews", to: "/admin/reviews" },
  { key: "nav.messages", to: "/admin/contact-messages" },
];

/** The phone panel leaves Messages out (specification §2); the dashboard leads there. */
export const phoneAdminTargets = adminTargets.filter(({ key }) => key !== "nav.messages");
