import { SERVER_TIME } from "@/lib/editing/update-if-unchanged";
import { inputTime } from "@/lib/owner-dates";
import type { Product } from "@/lib/types";

// Converts between the visibility of a work (a row of products) as the owner chooses it, and the column published_at.

/** Who sees a work: everyone (published), everyone from a given time on (scheduled), or only the owner (draft). */
export const VISIBILITIES = ["published", "scheduled", "draft"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/**
 * The visibility of a stored work. The server computes `is_published` with its own clock. Rows from a conflict or from the history
 * lack `is_published`. For such a row `published_at` is compared with the clock of this device.
 */
export function visibilityOf({
  published_at,
  is_published,
}: Pick<Product, "published_at" | "is_published">): Visibility {
  if (published_at === null) return "draft";
  const isPublished = is_published ?? !(new Date(published_at ?? 0) > new Date());
  return isPublished ? "published" : "scheduled";
}

/** The form values of a work's visibility. `publish_at` is the value of a datetime-local input, in the browser's time zone. */
export type VisibilityValues = { visibility: Visibility; publish_at: string };

/** The form values of a stored work. `product` is null for a new work. */
export function visibilityValues(product: Product | null): VisibilityValues {
  const visibility = product ? visibilityOf(product) : "published";
  const publishAt = visibility === "scheduled" ? product?.published_at : null;
  return { visibility, publish_at: publishAt ? inputTime(publishAt) : "" };
}

/**
 * The `published_at` to save. If the owner has not changed the visibility, this is the value that `product` has. For a new work that is
 * published it is undefined, and the server stores the current time.
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

/** Whether a work can be scheduled for this time. The time must be in the future. */
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
