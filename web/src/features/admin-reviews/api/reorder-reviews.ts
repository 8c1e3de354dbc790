import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** One request, one transaction. Quick presses queue in one scope, so the last order is the one that stays. */
export function useReorderReviews() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    scope: { id: "reorder-reviews" },
    mutationFn: async (ids: string[]) => {
      const { error } = await backend.rpc("reorder_reviews", { ids });
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.reviews.all }),
    // Not waited for: on a broken line its retries would hold the toast back.
    onError: () => void cache.invalidateQueries({ queryKey: queryKeys.reviews.all }),
  });
}
