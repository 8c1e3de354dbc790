import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReviewPayload } from "@/features/admin-reviews/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";

/** Inserts a new review (what a client said). The payload has no display_order, so the server puts the review last. */
export function useCreateReview() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (payload: ReviewPayload) => {
      const { error } = await backend.from("reviews").insert(payload);
      if (error) throw error;
    },
    onSuccess: () => refetch(cache, queryKeys.reviews.all),
  });
}
