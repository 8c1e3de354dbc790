import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReviewPayload } from "@/features/admin-reviews/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** No display_order: the server puts a new review last. */
export function useCreateReview() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (payload: ReviewPayload) => {
      const { error } = await backend.from("reviews").insert(payload);
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.reviews.all }),
  });
}
