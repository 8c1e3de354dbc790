import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { Review } from "@/lib/types";

export function getReviews(backend: PublicBackend, signal?: AbortSignal): Promise<Review[]> {
  return backend.read(
    "reviews",
    { select: "*,media", is_active: "eq.true", order: "display_order.asc" },
    signal,
  );
}

export function reviewsQuery(backend: PublicBackend) {
  return queryOptions({
    queryKey: queryKeys.reviews.active,
    queryFn: ({ signal }) => getReviews(backend, signal),
  });
}

export function useReviews() {
  return useQuery(reviewsQuery(usePublicBackend()));
}
