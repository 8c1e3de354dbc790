import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReviewWords } from "@/features/admin-reviews/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { ChangedMeanwhile, saveSeen } from "@/lib/save-seen";
import type { Review } from "@/lib/types";

type ReviewUpdate = { seen: Review; change: ReviewWords | Pick<Review, "is_active"> };

/** Rejects with ChangedMeanwhile when somebody else changed the same fields since the review was seen. */
export function useUpdateReview() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const readAgain = () => cache.invalidateQueries({ queryKey: queryKeys.reviews.all });
  return useMutation({
    mutationFn: ({ seen, change }: ReviewUpdate) => saveSeen(backend, "reviews", seen, change),
    // Returned, so that a switch stays busy until it shows what the service has.
    onSuccess: readAgain,
    onError: (error) => {
      if (error instanceof ChangedMeanwhile) void readAgain();
    },
  });
}
