import { useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { carouselQuery } from "@/lib/carousel-query";
import { queryKeys } from "@/lib/query-keys";

/** The REST parameters of the visible reviews. */
const visibleParams = { select: "*,media", is_active: "eq.true", order: "display_order.asc" };

/** The query of one page of the visible reviews in order. Pages are counted from 0. */
export function reviewsQuery(backend: PublicBackend, page: number) {
  return carouselQuery(backend, "reviews", visibleParams, queryKeys.reviews.active, page);
}

/** The first page of the visible reviews. */
export function useReviews() {
  return useQuery(reviewsQuery(usePublicBackend(), 0));
}
