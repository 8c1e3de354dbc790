import { REVIEW_ORDER_START } from "@/lib/constants";
import type { Review } from "@/lib/types";

/**
 * Sorts the reviews by the order of the ids and numbers them from 1, as the server does. Reviews whose ids are not in the
 * list are last.
 */
export function sortByIds(reviews: readonly Review[], ids: readonly string[]): Review[] {
  const indexes = new Map(ids.map((id, n) => [id, n]));
  return reviews
    .toSorted((a, b) => (indexes.get(a.id) ?? Infinity) - (indexes.get(b.id) ?? Infinity))
    .map((review, n) => ({ ...review, display_order: n + REVIEW_ORDER_START }));
}
