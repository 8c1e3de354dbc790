import { inputTime } from "@/lib/owner-dates";
import type { Product } from "@/lib/types";

/** Who sees a work: everyone (published), everyone from a given time on (scheduled), or only the owner (draft). */
export const VISIBILITIES = ["published", "scheduled", "draft"] as const;
/** One of VISIBILITIES. */
export type Visibility = (typeof VISIBILITIES)[number];

/** A value of a time column that the server replaces by its current time, so the clock of the owner's device does not matter. */
const SERVER_TIME = "now";

/**
 * The visibility of a stored work. The database computes `is_published` with its own clock. Rows from a conflict or the history
 * lack this column, so their `published_at` is compared with the clock of this device.
 */
export function visibilityOf({
  published_at,
  is_published,
}: Pick<Product, "published_at" | "is_published">): Visibility {
  if (published_at === null) return "draft";
  const isPublished = is_published ?? !(new Date(published_at ?? 0) > new Date());
  return isPublished ? "published" : "scheduled";
}

/** The form values of a work's visibility; `publish_at` is a time in the browser's time zone, as datetime-local inputs have it. */
export type VisibilityValues = { visibility: Visibility; publish_at: string };

/** The initial form values of a stored work; null stands for a new work. */
export function visibilityValues(product: Product | null): VisibilityValues {
  const visibility = product ? visibilityOf(product) : "published";
  const publishAt = visibility === "scheduled" ? product?.published_at : null;
  return { visibility, publish_at: publishAt ? inputTime(publishAt) : "" };
}

/**
 * The `published_at` to save. If the choice is unchanged, this is the value of `product`. For a new published work this is
 * undefined, and the server then stores the current time.
 */
export function publishedAt(
  { visibility, publish_at }: VisibilityValues,
  product: Product | null,
): string | null | undefined {
  const before = visibilityValues(product);
  const isSame =
    visibility === before.visibility &&
    (visibility !== "scheduled" || publish_at === before.publish_at);
  if (isSame) return product?.published_at;
  if (visibility === "draft") return null;
  return visibility === "published" ? SERVER_TIME : new Date(publish_at).toISOString();
}

/** Whether a work can be scheduled for this time, that is, whether it is in the future. */
export const canSchedule = (publishAt: string): boolean => new Date(publishAt) > new Date();

/** The values to change when a visibility is chosen. A newly scheduled work starts with a time. */
export const chooseVisibility = (
  visibility: Visibility,
  publishAt: string,
): Partial<VisibilityValues> =>
  visibility === "scheduled" && !publishAt
    ? { visibility, publish_at: tomorrowMorning() }
    : { visibility };

/** The time that a newly scheduled work starts with: nine o'clock tomorrow. */
export function tomorrowMorning(): string {
  const morning = new Date();
  morning.setDate(morning.getDate() + 1);
  morning.setHours(9, 0, 0, 0);
  return inputTime(morning.toISOString());
}
