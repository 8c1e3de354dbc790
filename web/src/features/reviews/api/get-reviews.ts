import { useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { carouselQuery } from "@/lib/carousel-query";
import { queryKeys } from "@/lib/query-keys";

/** The REST parameters of the visible reviews. */
const visible = { select: "*,media", is_active: "eq.true", order: "display_order.asc" };

/** The query of one page of the visible reviews in order. */
export function reviewsQuery(backend: PublicBackend, page: number) {
  return carouselQuery(backend, "reviews", visible, queryKeys.reviews.active, page);
}

/** The first page of the visible reviews. */
export function useReviews() {
  return useQuery(reviewsQuery(usePublicBackend(), 0));
}
