import { type Language } from "@/lib/boot";
import { type ArtworkType, type ContactReason, type ContactStatus } from "@/lib/types";

// The numbers and fixed lists of the section Constants in docs/product.md. Names ending in _MS are milliseconds, names
// ending in _PX are CSS pixels.

/** The languages of the site. */
export const LANGUAGES: readonly Language[] = ["en", "pt"];

// Contact form. Lengths are in code points. The server has the same upper limits.
export const CONTACT_NAME_MIN = 2;
export const CONTACT_NAME_MAX = 100;
export const CONTACT_EMAIL_MAX = 254;
export const CONTACT_MESSAGE_MIN = 10;
export const CONTACT_MESSAGE_MAX = 5000;
/** The reasons of a message, in the order in which the filter of the messages shows them. */
export const CONTACT_REASONS: readonly ContactReason[] = [
  "general",
  "commission",
  "purchase",
  "collaboration",
];
/** The statuses of a message. */
export const CONTACT_STATUSES: readonly ContactStatus[] = ["new", "read", "replied"];

// Artworks
/** The types of works, as the column artwork_type stores them. */
export const ARTWORK_TYPES: readonly ArtworkType[] = [
  "digital",
  "watercolour",
  "mural",
  "oil",
  "acrylic",
];
/** The price that is saved with each work. The form has no field for the price. */
export const PRODUCT_PRICE = 0;
/** Whether a new work is in stock. */
export const PRODUCT_IN_STOCK_DEFAULT = true;

// Lists of the admin area
/** The number of rows on a page of a list. */
export const LIST_PAGE_ROWS = 50;
/** The maximum length of a search text in characters. */
export const LIST_SEARCH_MAX = 100;
/** The pause in typing after which a list is searched. */
export const LIST_SEARCH_DEBOUNCE_MS = 250;

// The display_order of the first row of a table; the following rows count up from it.
export const REVIEW_ORDER_START = 1;
export const COVER_ORDER_MIN = 1;

// Carousels, and the hero: the large pictures at the top of the home page
/** How long the hero shows a picture. */
export const HERO_DWELL_MS = 5000;
/** The hero requests the picture of the next slide this long before it shows that slide. */
export const HERO_PREPARE_MS = 2500;
/** The delay from the selection of a slide to the start of its video. */
export const VIDEO_START_DELAY_MS = 80;
/** The waits before further attempts to play a video that did not start or has stopped. */
export const VIDEO_RETRY_DELAYS_MS: readonly number[] = [120, 240, 400, 600];
/** The share of the hero that must be on the screen for a video to play. */
export const VIDEO_VISIBLE_RATIO = 0.35;
/** How slowly the carousels scroll, in the unit of the library embla, which is not milliseconds. */
export const CAROUSEL_DURATION = 25;
/** The maximum number of dots that a carousel shows for its slides. */
export const MAX_DOTS = 5;
/** Rows per request of the carousels of works and reviews. The first rows are in the page itself. */
export const CAROUSEL_PAGE = 12;
/** A page of rows is requested when its first slide is at most this many slides after the selected one. */
export const CAROUSEL_AHEAD = 8;

// Navigation
/** The delay before a submenu opens under the mouse. */
export const SUBMENU_OPEN_DELAY_MS = 0;
/** The delay before a submenu closes after the mouse has left it. */
export const SUBMENU_CLOSE_DELAY_MS = 100;
/** The delay before scrolling to a section on a page that was just opened. */
export const SCROLL_AFTER_NAVIGATION_MS = 100;
/** The scroll offset beyond which the header over a hero is no longer transparent. */
export const HEADER_SOLID_AFTER_PX = 24;

// Toasts; the swipe distance is fixed in the library sonner.
/** How long a toast without a button stays. */
export const TOAST_DURATION_MS = 4000;
/** How long a toast with a button stays. The owner can still undo the change after the toast has gone. */
export const TOAST_ACTION_MS = 10_000;
/** The maximum number of toasts that are visible together. */
export const TOAST_VISIBLE = 3;
/** The width of a toast. */
export const TOAST_WIDTH_PX = 356;
/** The gap between two toasts. */
export const TOAST_GAP_PX = 14;

// Data cache
/** How long unused data stay in the query cache. */
export const QUERY_GC_MS = 5 * 60 * 1000;
/** How long data in the query cache count as fresh. */
export const QUERY_STALE_MS = 60 * 1000;
/** How often a failed query is retried. */
export const QUERY_RETRIES = 3;
/** The wait before the first retry; it doubles with each retry. */
export const QUERY_RETRY_BASE_MS = 1000;
/** The longest wait before a retry. */
export const QUERY_RETRY_MAX_MS = 30_000;

// Live changes
/** The interval of heartbeats on the live connection. */
export const LIVE_HEARTBEAT_MS = 30_000;
/** How long the client waits for a reply on the live connection. */
export const LIVE_TIMEOUT_MS = 10_000;

/** Poll interval of admin lists while the server makes renditions. */
export const PREPARING_POLL_MS = 3000;

// Poll intervals for new messages, without and with a live connection.
export const NEW_MESSAGES_POLL_MS = 15_000;
export const NEW_MESSAGES_POLL_LIVE_MS = 120_000;
/** The time from a live change to the refetch that it causes. Changes in between cause no further refetch. */
export const LIVE_REFETCH_DELAY_MS = 250;
/** Wait before a channel that the server has closed is joined again. */
export const LIVE_REJOIN_MS = 5_000;

// Storage buckets
/** The buckets that the site uploads to, by the kind of row that refers to the files. */
export const BUCKETS = {
  products: "product-images",
  reviews: "review-images",
  covers: "cover-images",
} as const;
/** The name of one of BUCKETS. */
export type Bucket = (typeof BUCKETS)[keyof typeof BUCKETS];

// Limits of uploads; lib/upload/media-types.ts has the accepted types.
/** The largest picture. */
export const IMAGE_MAX_BYTES = 50 * 1024 * 1024;
/** The largest video. */
export const VIDEO_MAX_BYTES = 2 * 1024 * 1024 * 1024;
/** The most uploads that run together. */
export const MAX_CONCURRENT_UPLOADS = 3;
