import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReviewPayload } from "@/features/admin-reviews/schema";
import { useOwnerBackend } from "@/lib/backend";
import { insertOnce } from "@/lib/editing/insert-once";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";

/**
 * Inserts a new review (what a client said). The payload has no display_order, so the server puts the review last. A second call with
 * the same id adds no second review.
 */
export function useCreateReview() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, payload }: { id: string; payload: ReviewPayload }) => {
      const { error } = await insertOnce(backend, "reviews", id, payload);
      if (error) throw error;
    },
    onSuccess: () => refetch(queryClient, queryKeys.reviews.all),
  });
}
