import { useMutation, useQueryClient } from "@tanstack/react-query";
import { coversInOrder, ORDER_SCOPE, reorderCovers } from "@/features/admin-covers/api/cover-order";
import { movedTo } from "@/features/admin-covers/order";
import type { CoverChange } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { COVER_ORDER_MIN } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import { ConflictError, updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { refetch } from "@/lib/refetch";
import type { CoverImage } from "@/lib/types";

/**
 * Saves the changed fields of a cover and resolves with its place in the order (display_order). Rejects with ConflictError if
 * the texts were changed since `base` was read. A move never conflicts, because it sets the places of all covers.
 */
export function useUpdateCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const invalidate = () => refetch(cache, queryKeys.covers.all);
  return useMutation({
    scope: ORDER_SCOPE,
    mutationFn: async ({ base, change }: { base: CoverImage; change: CoverChange }) => {
      const { display_order: newNumber, ...texts } = change;
      let number = base.display_order;
      if (newNumber !== undefined && newNumber !== null) {
        const ids = movedTo(await coversInOrder(backend), base.id, newNumber);
        await reorderCovers(backend, ids);
        number = ids.indexOf(base.id) + COVER_ORDER_MIN;
      }
      if (Object.keys(texts).length > 0)
        await updateIfUnchanged(backend, "cover_images", base, texts);
      return number;
    },
    // Returns the promise, so that the mutation is pending until the list is refetched.
    onSuccess: invalidate,
    onError: (error) => {
      if (error instanceof ConflictError) void invalidate();
    },
  });
}
