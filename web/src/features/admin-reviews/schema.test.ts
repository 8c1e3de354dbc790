import { expect, it } from "vitest";
import { reviewPayload, reviewSchema } from "@/features/admin-reviews/schema";

it("requires a name and a message that are not blank", () => {
  const full = { client_name: " Inês ", location: "", message: " Obrigada. ", message_pt: " " };
  expect(reviewSchema.safeParse({ ...full, client_name: " " }).success).toBe(false);
  expect(reviewSchema.safeParse({ ...full, message: "\n" }).success).toBe(false);
  expect(reviewPayload(reviewSchema.parse(full), null)).toEqual({
    client_name: "Inês",
    location: null,
    message: "Obrigada.",
    message_pt: null,
    image_url: null,
    is_active: true,
  });
});
