import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The query of the visible reviews in order. */
export function reviewsQuery(backend: PublicBackend) {
  return queryOptions({
    queryKey: queryKeys.reviews.active,
    queryFn: ({ signal }) =>
      backend.read(
        "reviews",
        { select: "*,media", is_active: "eq.true", order: "display_order.asc" },
        signal,
      ),
  });
}

export function useReviews() {
  return useQuery(reviewsQuery(usePublicBackend()));
}
