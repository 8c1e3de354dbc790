import type { TextKey } from "@/lib/texts";

// The links of the header, in order. `key` is the text key of a link, `to` its path, `id` the section that it scrolls to.

/** The links to sections of the home page. useSectionLinks omits links to sections that the page does not have. */
export const sectionLinks: readonly { key: TextKey; id: string }[] = [
  { key: "nav.about", id: "about" },
  { key: "nav.testimonials", id: "testimonials" },
  { key: "nav.contact", id: "contact" },
];

/** The links to the admin pages. */
export const adminLinks: readonly { key: TextKey; to: string }[] = [
  { key: "nav.overview", to: "/admin" },
  { key: "nav.products", to: "/admin/products" },
  { key: "nav.series", to: "/admin/series" },
  { key: "nav.coverImages", to: "/admin/cover-images" },
  { key: "nav.reviews", to: "/admin/reviews" },
  { key: "nav.messages", to: "/admin/contact-messages" },
];

/**
 * The admin links in the menu of small screens. Messages is omitted, because the dashboard links to it
 * (docs/product.md, rule 23).
 */
export const phoneAdminLinks = adminLinks.slice(0, -1);

/** The links to the settings and the account in the menu of small screens. */
export const phoneSiteLinks: readonly { key: TextKey; to: string }[] = [
  { key: "nav.settings", to: "/admin/settings" },
  { key: "nav.account", to: "/admin/account" },
];
