import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { Review } from "@/lib/types";

export async function getReviews(backend: PublicBackend, signal?: AbortSignal): Promise<Review[]> {
  let query = backend
    .from("reviews")
    .select("*")
    .eq("is_active", true)
    .order("display_order", { ascending: true });
  if (signal) query = query.abortSignal(signal);
  const { data } = await query.throwOnError();
  return data;
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
