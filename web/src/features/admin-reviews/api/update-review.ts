import { useMutation, useQueryClient } from "@tanstack/react-query";
import { REVIEW_SCOPE } from "@/features/admin-reviews/api/reorder-reviews";
import type { ReviewChange } from "@/features/admin-reviews/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { ConflictError, updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { refetch } from "@/lib/refetch";
import type { Review } from "@/lib/types";

/** A change of a review, by its form or by the button that hides it. `base` is the row from which the change was made. */
type ReviewUpdate = { base: Review; change: ReviewChange | Pick<Review, "is_active"> };

/**
 * Saves the fields of `change` in a review (what a client said). Rejects with ConflictError if one of these fields was changed
 * since `base` was read.
 */
export function useUpdateReview() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const refetchReviews = () => refetch(queryClient, queryKeys.reviews.all);
  return useMutation({
    scope: REVIEW_SCOPE,
    mutationFn: ({ base, change }: ReviewUpdate) =>
      updateIfUnchanged(backend, "reviews", base, change),
    // Returns the promise, so that the mutation is pending until the list is refetched.
    onSuccess: refetchReviews,
    onError: (error) => {
      if (error instanceof ConflictError) void refetchReviews();
    },
  });
}
