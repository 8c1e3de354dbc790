import * as z from "zod/mini";
import type { PendingFile } from "@/lib/upload/upload-queue";
import type { Review } from "@/lib/types";

/** The form of a review. It has no error messages: the submit button is disabled while the form is invalid. */
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

/** The state in which a form of a review starts; also what its draft stores. */
export type ReviewStart = {
  /** The row as fetched (the base); null for a new review. */
  review: Review | null;
  values: ReviewValues;
  image_url: string | null;
  /** Avatar files that were not uploaded when the draft was stored. */
  pending?: readonly PendingFile[];
  /** Whether the state has changes that are not saved. */
  unsaved: boolean;
};

/** The state in which the form of an existing review starts; with null, that of a new review. */
export function initialState(review: Review | null): ReviewStart {
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

/** The fields that the form of a review changes. */
export type ReviewWords = Omit<ReviewPayload, "is_active">;

/** The fields that the form saves in an existing review: all but the visibility, which the list changes. */
export function reviewWords(values: ReviewValues, imageUrl: string | null): ReviewWords {
  const { is_active: _, ...words } = reviewPayload(values, imageUrl);
  return words;
}

/** The row of a new review, which is visible. */
export function reviewPayload(values: ReviewValues, imageUrl: string | null): ReviewPayload {
  return {
    client_name: values.client_name,
    location: values.location || null,
    message: values.message,
    image_url: imageUrl,
    is_active: true,
  };
}
