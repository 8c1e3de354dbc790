import { describe, expect, it } from "vitest";
import { formValues, productPayload, productSchema } from "@/features/admin-products/schema";
import {
  canSchedule,
  publishedAt,
  tomorrowMorning,
  visibilityOf,
  visibilityValues,
} from "@/features/admin-products/visibility";
import type { Product } from "@/lib/types";

const past = "2026-01-02T03:04:05.678Z";
const future = "2999-06-01T08:30:20.5Z";
/** A stored work. Without is_published it is like a row of the history or of a conflict. */
const work = (published_at?: string | null, is_published?: boolean) =>
  ({ published_at, is_published }) as Product;

describe("visibilityOf", () => {
  it.each([
    [work(past, true), "published"],
    [work(future, false), "scheduled"],
    // The server decides, whatever the clock of the owner's device shows.
    [work(future, true), "published"],
    [work(past, false), "scheduled"],
    [work(null, false), "draft"],
    [work(past), "published"],
    [work(future), "scheduled"],
    [work(null), "draft"],
    [work(), "published"],
  ])("%j is %s", (product, visibility) => {
    expect(visibilityOf(product)).toBe(visibility);
  });
});

describe("publishedAt", () => {
  const draft = { visibility: "draft", publish_at: "" } as const;
  const published = { visibility: "published", publish_at: "" } as const;
  const scheduled = { visibility: "scheduled", publish_at: "2999-06-01T10:00" } as const;

  it("leaves the time of a new work to the server's default, and keeps that of a published one", () => {
    expect(publishedAt(published, null)).toBeUndefined();
    expect(publishedAt(published, work(past, true))).toBe(past);
    expect(publishedAt(published, work())).toBeUndefined();
  });

  it("uses the server's time when a work is published by hand", () => {
    expect(publishedAt(published, work(null, false))).toBe("now");
    expect(publishedAt(published, work(future, false))).toBe("now");
  });

  it("hides a work, and schedules it in the time zone of the device", () => {
    expect(publishedAt(draft, work(past, true))).toBeNull();
    expect(publishedAt(draft, null)).toBeNull();
    expect(publishedAt(scheduled, null)).toBe(new Date(2999, 5, 1, 10).toISOString());
  });

  it("keeps the seconds of a time that has not changed", () => {
    const product = work(future, false);
    expect(publishedAt(visibilityValues(product), product)).toBe(future);
  });
});

it("A-visible-1: accepts only times in the future, and only for scheduled works", () => {
  const values = { ...formValues(null), title: "Mar" };
  for (const publish_at of ["", "2020-01-01T10:00", "soon"]) {
    const result = productSchema.safeParse({ ...values, visibility: "scheduled", publish_at });
    expect(result.error?.issues).toMatchObject([
      { path: ["publish_at"], message: "products.publishAtRequired" },
    ]);
    expect(productSchema.safeParse({ ...values, publish_at }).success).toBe(true);
    expect(canSchedule(publish_at)).toBe(false);
  }
  const scheduled = { ...values, visibility: "scheduled", publish_at: tomorrowMorning() } as const;
  expect(productSchema.safeParse(scheduled).success).toBe(true);
  const at = new Date(
    productPayload(scheduled, { image_url: null, image_gallery: [], video_gallery: [] })
      .published_at!,
  );
  expect([at.getHours(), at.getMinutes()]).toEqual([9, 0]);
});
