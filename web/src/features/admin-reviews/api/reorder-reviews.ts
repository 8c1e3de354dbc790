import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { undoneOrder, type OrderChange } from "@/lib/editing/use-undo";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";

/**
 * The mutation scope that the changes of reviews (what clients said) share. Mutations of one scope run one after the other, in the
 * order of the owner's actions. So the newest order is saved last, and a review is deleted only after its changes are saved.
 */
export const REVIEW_SCOPE = { id: "reviews" };

/** Numbers the reviews in the order of the ids, in one transaction. */
async function reorder(backend: OwnerBackend, ids: string[]): Promise<void> {
  const { error } = await backend.rpc("reorder_reviews", { ids });
  if (error) throw error;
}

/** Saves the order in which the owner has put the reviews, given all ids in this order. */
export function useReorderReviews() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: REVIEW_SCOPE,
    mutationFn: (ids: string[]) => reorder(backend, ids),
    // Awaited: the rows must have the new order before useReviewOrder stops showing the requested one.
    onSuccess: () => refetch(queryClient, queryKeys.reviews.all),
    // Not awaited, because without a network the retries of the refetch would delay the toast.
    onError: () => void refetch(queryClient, queryKeys.reviews.all),
  });
}

/**
 * Undoes a change of the order. It reads the current order first. If reviews were moved since the change, it rejects with
 * ConflictError.
 */
export function useUndoReviewOrder() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: REVIEW_SCOPE,
    mutationFn: async (change: OrderChange) => {
      const { data, error } = await backend
        .from("reviews")
        .select("id")
        .order("display_order", { ascending: true })
        .order("created_at", { ascending: false });
      if (error) throw error;
      await reorder(
        backend,
        undoneOrder(
          data.map(({ id }) => id),
          change,
        ),
      );
    },
    onSettled: () => refetch(queryClient, queryKeys.reviews.all),
  });
}
