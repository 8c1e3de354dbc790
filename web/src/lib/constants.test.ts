import { expect, it } from "vitest";
import * as constants from "@/lib/constants";

// The literal numbers and lists of specification §9: a change here is a change of the specification.
it("holds the languages, reasons, statuses, types and filters of the specification", () => {
  expect(constants.LANGUAGES).toEqual(["en", "pt"]);
  expect(constants.CONTACT_REASONS).toEqual(["general", "commission", "purchase", "collaboration"]);
  expect(constants.CONTACT_STATUSES).toEqual(["new", "read", "replied"]);
  expect(constants.ARTWORK_TYPES).toEqual(["digital", "watercolour", "mural", "oil", "acrylic"]);
  expect(constants.GALLERY_HIDDEN_TYPES).toEqual(["oil", "acrylic"]);
  expect([...constants.GALLERY_FILTERS].sort()).toEqual(["all", "digital", "mural", "watercolour"]);
});

it("holds the contact form's minimums and the owner's defaults", () => {
  expect(constants.CONTACT_NAME_MIN).toBe(2);
  expect(constants.CONTACT_MESSAGE_MIN).toBe(10);
  expect(constants.PRODUCT_PRICE).toBe(0);
  expect(constants.PRODUCT_IN_STOCK_DEFAULT).toBe(true);
  expect(constants.REVIEW_ORDER_START).toBe(1);
  expect(constants.COVER_ORDER_MIN).toBe(1);
});

it("holds the times and sizes of hero, carousels, bar and toasts", () => {
  expect(constants.HERO_DWELL_MS).toBe(5000);
  expect(constants.VIDEO_RETRY_DELAYS_MS).toEqual([120, 240, 400, 600]);
  expect(constants.VIDEO_VISIBLE_RATIO).toBe(0.35);
  expect(constants.VIDEO_START_DELAY_MS).toBe(80);
  expect(constants.CAROUSEL_DURATION).toBe(25);
  expect(constants.MAX_DOTS).toBe(5);
  expect(constants.REVIEW_CLAMP_LINES).toBe(4);
  expect(constants.SUBMENU_OPEN_DELAY_MS).toBe(0);
  expect(constants.SUBMENU_CLOSE_DELAY_MS).toBe(100);
  expect(constants.SCROLL_AFTER_NAVIGATION_MS).toBe(100);
  expect(constants.TOAST_DURATION_MS).toBe(4000);
  expect(constants.TOAST_VISIBLE).toBe(3);
  expect(constants.TOAST_WIDTH_PX).toBe(356);
  expect(constants.TOAST_GAP_PX).toBe(14);
  expect(constants.TOAST_SWIPE_PX).toBe(20);
  expect(constants.HELPER_TOAST_LIMIT).toBe(1);
});
