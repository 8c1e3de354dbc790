import { useMutation, useQueryClient } from "@tanstack/react-query";
import { REVIEW_SCOPE } from "@/features/admin-reviews/api/reorder-reviews";
import { useOwnerBackend } from "@/lib/backend";
import { refetch } from "@/lib/refetch";
import { removeCachedRow } from "@/lib/remove-cached-row";
import { queryKeys } from "@/lib/query-keys";

/** Deletes a review (what a client said) by its id. The server deletes the file of the avatar (the client's picture). */
export function useDeleteReview() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: REVIEW_SCOPE,
    mutationFn: async (id: string) => {
      const { error } = await backend.from("reviews").delete().eq("id", id);
      if (error) throw error;
      await removeCachedRow(queryClient, queryKeys.reviews.admin, id);
    },
    onSuccess: () => refetch(queryClient, queryKeys.reviews.all),
  });
}
