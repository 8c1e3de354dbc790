import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";

/**
 * Saves the order of the reviews in one transaction. The scope sends requests one after the other, so that the newest order
 * is saved last.
 */
export function useReorderReviews() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    scope: { id: "reorder-reviews" },
    mutationFn: async (ids: string[]) => {
      const { error } = await backend.rpc("reorder_reviews", { ids });
      if (error) throw error;
    },
    onSuccess: () => refetch(cache, queryKeys.reviews.all),
    // Not awaited: without a network the retries of the refetch would delay the toast.
    onError: () => void refetch(cache, queryKeys.reviews.all),
  });
}
