import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  fetchCoversInOrder,
  COVER_SCOPE,
  reorderCovers,
} from "@/features/admin-covers/api/cover-order";
import { idsAfterMove } from "@/features/admin-covers/order";
import type { CoverChange } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { COVER_ORDER_MIN } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import { ConflictError, updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { refetch } from "@/lib/refetch";
import type { CoverImage } from "@/lib/types";

/**
 * Saves the changed fields of a cover and resolves with its number (display_order). Rejects with ConflictError if one of
 * these fields was changed since `base` was read. A new number never conflicts, because it renumbers all covers.
 */
export function useUpdateCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const refetchCovers = () => refetch(cache, queryKeys.covers.all);
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async ({ base, change }: { base: CoverImage; change: CoverChange }) => {
      const { display_order: newNumber, ...otherFields } = change;
      let number = base.display_order;
      if (newNumber !== undefined && newNumber !== null) {
        const ids = idsAfterMove(await fetchCoversInOrder(backend), base.id, newNumber);
        await reorderCovers(backend, ids);
        number = ids.indexOf(base.id) + COVER_ORDER_MIN;
      }
      if (Object.keys(otherFields).length > 0)
        await updateIfUnchanged(backend, "cover_images", base, otherFields);
      return number;
    },
    // Returns the promise, so that the mutation is pending until the list is refetched.
    onSuccess: refetchCovers,
    onError: (error) => {
      if (error instanceof ConflictError) void refetchCovers();
    },
  });
}
