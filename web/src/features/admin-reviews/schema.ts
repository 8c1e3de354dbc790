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

export function reviewPayload(values: ReviewValues, imageUrl: string | null): ReviewPayload {
  return {
    client_name: values.client_name,
    location: values.location || null,
    message: values.message,
    image_url: imageUrl,
    is_active: true,
  };
}
