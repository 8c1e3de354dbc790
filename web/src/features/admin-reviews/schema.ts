import * as z from "zod/mini";
import type { PendingFile } from "@/lib/upload/upload-queue";
import type { Review } from "@/lib/types";

// Validates the form of a review (what a client said), and converts between the row, the form's values and the columns to save.

/** Validates the form. There are no error messages, because the button that saves is disabled while the form is invalid. */
export const reviewSchema = z.object({
  client_name: z.string().check(z.trim(), z.minLength(1)),
  location: z.string().check(z.trim()),
  message: z.string().check(z.trim(), z.minLength(1)),
  message_pt: z.string().check(z.trim()),
});

/** The values of the form of a review. */
export type ReviewValues = z.infer<typeof reviewSchema>;

/** The columns of a new review. */
export type ReviewPayload = Pick<
  Review,
  "client_name" | "location" | "message" | "message_pt" | "image_url" | "is_active"
>;

/** The state of the form of a review. The form starts with such a state, and a draft (unsaved values in the browser) stores one. */
export type ReviewFormState = {
  /** The version of the row that the changes are based on. Null for a new review. */
  review: Review | null;
  /** The id that a new review gets, so that saving it again adds no second one. A draft has it, and a form without one chooses it. */
  newId?: string;
  values: ReviewValues;
  /** The URL of the avatar (the client's picture). Null if there is none. */
  image_url: string | null;
  /** Avatar files that were not uploaded when the draft was stored. */
  pending?: readonly PendingFile[];
  /** Whether the state has changes that are not saved. */
  unsaved: boolean;
};

/** The state with which the form starts. `review` is null for a new review. */
export function initialFormState(review: Review | null): ReviewFormState {
  return {
    review,
    values: {
      client_name: review?.client_name ?? "",
      location: review?.location ?? "",
      message: review?.message ?? "",
      message_pt: review?.message_pt ?? "",
    },
    image_url: review?.image_url ?? null,
    unsaved: false,
  };
}

/** The columns that the form saves in an existing review. The visibility (is_active) is not among them: the list changes it. */
export type ReviewChange = Omit<ReviewPayload, "is_active">;

/** The values to save in an existing review, made from the form's values and the URL of the avatar. */
export function reviewChange(values: ReviewValues, imageUrl: string | null): ReviewChange {
  const { is_active: _, ...change } = reviewPayload(values, imageUrl);
  return change;
}

/** The row to insert for a new review, which is visible on the site immediately. */
export function reviewPayload(values: ReviewValues, imageUrl: string | null): ReviewPayload {
  return {
    client_name: values.client_name,
    location: values.location || null,
    message: values.message,
    message_pt: values.message_pt || null,
    image_url: imageUrl,
    is_active: true,
  };
}
