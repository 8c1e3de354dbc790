import { expect, it } from "vitest";
import { sortByIds } from "@/features/admin-reviews/reorder";
import { reviewPayload, reviewSchema } from "@/features/admin-reviews/schema";
import type { Review } from "@/lib/types";

const review = (id: string, display_order: number | null): Review => ({
  id,
  client_name: id,
  location: null,
  message: "m",
  image_url: null,
  is_active: true,
  display_order,
  created_at: "2026-01-01T00:00:00Z",
});

it("numbers the wanted order from 1", () => {
  const rows = sortByIds([review("a", 1), review("b", 2), review("c", null)], ["c", "a", "b"]);
  expect(rows.map(({ id, display_order }) => [id, display_order])).toEqual([
    ["c", 1],
    ["a", 2],
    ["b", 3],
  ]);
});

it("puts a review that was added meanwhile last", () => {
  const rows = sortByIds([review("new", 1), review("a", 2), review("b", 3)], ["b", "a"]);
  expect(rows.map(({ id }) => id)).toEqual(["b", "a", "new"]);
});

it("requires a name and a message that are not blank", () => {
  const full = { client_name: " Inês ", location: "", message: " Obrigada. " };
  expect(reviewSchema.safeParse({ ...full, client_name: " " }).success).toBe(false);
  expect(reviewSchema.safeParse({ ...full, message: "\n" }).success).toBe(false);
  expect(reviewPayload(reviewSchema.parse(full), null)).toEqual({
    client_name: "Inês",
    location: null,
    message: "Obrigada.",
    image_url: null,
    is_active: true,
  });
});
