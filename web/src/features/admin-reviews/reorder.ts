import { REVIEW_ORDER_START } from "@/lib/constants";
import type { Review } from "@/lib/types";

/** The list as the server will have it: in the order of the ids, numbered from 1. */
export function inOrder(reviews: readonly Review[], ids: readonly string[]): Review[] {
  const place = new Map(ids.map((id, n) => [id, n]));
  return reviews
    .toSorted((a, b) => (place.get(a.id) ?? Infinity) - (place.get(b.id) ?? Infinity))
    .map((review, n) => ({ ...review, display_order: n + REVIEW_ORDER_START }));
}
