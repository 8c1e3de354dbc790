import { type Language } from "@/lib/boot";
import { type ArtworkType, type ContactReason, type ContactStatus } from "@/lib/types";

// Every number and closed list of specification §9, named once so that a test can read them.

export const LANGUAGES: readonly Language[] = ["en", "pt"];

// Contact form; the upper limits are the server's.
export const CONTACT_NAME_MIN = 2;
export const CONTACT_NAME_MAX = 100;
export const CONTACT_EMAIL_MAX = 254;
export const CONTACT_MESSAGE_MIN = 10;
export const CONTACT_MESSAGE_MAX = 5000;
export const CONTACT_REASONS: readonly ContactReason[] = [
  "general",
  "commission",
  "purchase",
  "collaboration",
];
export const CONTACT_STATUSES: readonly ContactStatus[] = ["new", "read", "replied"];

// Artworks
export const ARTWORK_TYPES: readonly ArtworkType[] = [
  "digital",
  "watercolour",
  "mural",
  "oil",
  "acrylic",
];
export const GALLERY_HIDDEN_TYPES: readonly ArtworkType[] = ["oil", "acrylic"];
export const GALLERY_FILTERS = ["all", "digital", "mural", "watercolour"] as const;
export type GalleryFilter = (typeof GALLERY_FILTERS)[number];
export const PRODUCT_PRICE = 0;
export const PRODUCT_IN_STOCK_DEFAULT = true;

// The owner's lists of works and of messages
export const LIST_PAGE_ROWS = 50;
export const LIST_SEARCH_MAX = 100;
export const LIST_SEARCH_PAUSE_MS = 250;

// Orders
export const REVIEW_ORDER_START = 1;
export const COVER_ORDER_MIN = 1;

// Hero and carousels
export const HERO_DWELL_MS = 5000;
export const VIDEO_START_DELAY_MS = 80;
export const VIDEO_RETRY_DELAYS_MS: readonly number[] = [120, 240, 400, 600];
export const VIDEO_VISIBLE_RATIO = 0.35;
export const CAROUSEL_DURATION = 25;
export const MAX_DOTS = 5;
export const REVIEW_CLAMP_LINES = 4;

// Navigation
export const SUBMENU_OPEN_DELAY_MS = 0;
export const SUBMENU_CLOSE_DELAY_MS = 100;
export const SCROLL_AFTER_NAVIGATION_MS = 100;
export const HEADER_SOLID_AFTER_PX = 24;

// Toasts; sonner 1.7.4 has the swipe distance built in.
export const TOAST_DURATION_MS = 4000;
export const TOAST_VISIBLE = 3;
export const TOAST_WIDTH_PX = 356;
export const TOAST_GAP_PX = 14;
export const TOAST_SWIPE_PX = 20;
export const HELPER_TOAST_LIMIT = 1;

// Data cache
export const QUERY_GC_MS = 5 * 60 * 1000;
export const QUERY_STALE_MS = 60 * 1000;
export const QUERY_RETRIES = 3;
export const QUERY_RETRY_BASE_MS = 1000;
export const QUERY_RETRY_MAX_MS = 30_000;

// Live changes; the official client would send its heartbeat every 25 s.
export const LIVE_HEARTBEAT_MS = 30_000;
export const LIVE_TIMEOUT_MS = 10_000;

/** How often the owner's lists look whether the smaller pictures are there. */
export const PREPARING_MS = 3000;

// The owner's messages; without a live connection they are asked for more often.
export const ARRIVALS_POLL_MS = 15_000;
export const ARRIVALS_POLL_LIVE_MS = 120_000;
/** Changes that come close together are one reason to look. */
export const LIVE_SETTLE_MS = 250;
/** Before a channel that the server has ended is joined anew. */
export const LIVE_REJOIN_MS = 5_000;

// Storage buckets
export const BUCKETS = {
  products: "product-images",
  reviews: "review-images",
  covers: "cover-images",
} as const;
export type Bucket = (typeof BUCKETS)[keyof typeof BUCKETS];

// Files the forms accept; the server decides from the bytes.
export const IMAGE_TYPES: readonly string[] = [
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/gif",
];
export const VIDEO_TYPES: readonly string[] = ["video/mp4", "video/webm", "video/quicktime"];
export const IMAGE_MAX_BYTES = 50 * 1024 * 1024;
export const VIDEO_MAX_BYTES = 2 * 1024 * 1024 * 1024;
export const UPLOADS_AT_ONCE = 3;
