import * as z from "zod/mini";
import type { Review } from "@/lib/types";

/** Whether it parses decides whether Add Review is enabled; there are no messages to show. */
export const reviewSchema = z.object({
  client_name: z.string().check(z.trim(), z.minLength(1)),
  location: z.string().check(z.trim()),
  message: z.string().check(z.trim(), z.minLength(1)),
});

export type ReviewValues = z.infer<typeof reviewSchema>;

export type ReviewPayload = Pick<
  Review,
  "client_name" | "location" | "message" | "image_url" | "is_active"
>;

/** How a form opens, and what is kept of it when it goes away unsaved. */
export type ReviewStart = {
  /** The row as it was seen; null for a review that does not exist yet. */
  review: Review | null;
  values: ReviewValues;
  image_url: string | null;
  /** Holds something that is not saved anywhere. */
  unsaved: boolean;
};

export function startOf(review: Review | null): ReviewStart {
  return {
    review,
    values: {
      client_name: review?.client_name ?? "",
      location: review?.location ?? "",
      message: review?.message ?? "",
    },
    image_url: review?.image_url ?? null,
    unsaved: false,
  };
}

export type ReviewWords = Omit<ReviewPayload, "is_active">;

/** What the form changes in a review that exists; whether it is shown is the row's own switch. */
export function reviewWords(values: ReviewValues, imageUrl: string | null): ReviewWords {
  const { is_active: _, ...words } = reviewPayload(values, imageUrl);
  return words;
}

export function reviewPayload(values: ReviewValues, imageUrl: string | null): ReviewPayload {
  return {
    client_name: values.client_name,
    location: values.location || null,
    message: values.message,
    image_url: imageUrl,
    is_active: true,
  };
}
