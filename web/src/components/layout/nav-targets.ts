import type { Key } from "@/lib/texts";

// The links of the header, in order. `key` is the key of a link's text, `to` its path.

/** The sections of the home page by their anchor ids. useSectionTargets omits those that the page does not have. */
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

/** The admin links of the phone panel. It omits Messages (docs/product.md, rule 23), to which the dashboard links. */
export const phoneAdminTargets = adminTargets.slice(0, -1);

/** The links to the settings and the account in the phone panel. */
export const phoneSiteTargets: readonly { key: Key; to: string }[] = [
  { key: "nav.settings", to: "/admin/settings" },
  { key: "nav.account", to: "/admin/account" },
];
