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
import { undoneOrder, type OrderChange } from "@/lib/editing/use-undo";
import { ConflictError, updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { refetch } from "@/lib/refetch";
import type { CoverImage } from "@/lib/types";

/**
 * The result of useUpdateCover: what was saved of a cover (a large picture or video at the top of the home page), and the
 * values from before, so that the change can be undone.
 */
export type SavedCoverChange = {
  /** The cover's number in the order (display_order) after the save. */
  number: number | null;
  /** The change of the order; null if the cover has kept its number. */
  order: OrderChange | null;
  /**
   * The saved row, and the previous values of the changed fields; null if only the order has
   * changed.
   */
  fields: { row: CoverImage; before: CoverChange } | null;
};

/**
 * Saves the changed fields of a cover. Rejects with ConflictError if one of these fields was changed since `base` was read. A
 * new number never conflicts, because it renumbers all covers.
 */
export function useUpdateCover() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const refetchCovers = () => refetch(queryClient, queryKeys.covers.all);
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async ({ base, change }: { base: CoverImage; change: CoverChange }) => {
      const { display_order: newNumber, ...otherFields } = change;
      const saved: SavedCoverChange = { number: base.display_order, order: null, fields: null };
      // The fields first: if they conflict, the order is not saved either.
      if (Object.keys(otherFields).length > 0) {
        const row = await updateIfUnchanged(backend, "cover_images", base, otherFields);
        saved.fields = { row, before: valuesOf(base, otherFields) };
      }
      if (newNumber !== undefined && newNumber !== null) {
        const covers = await fetchCoversInOrder(backend);
        const ids = idsAfterMove(covers, base.id, newNumber);
        await reorderCovers(backend, ids);
        saved.number = ids.indexOf(base.id) + COVER_ORDER_MIN;
        saved.order = { before: covers.map(({ id }) => id), after: ids };
      }
      return saved;
    },
    // Returns the promise, so that the mutation is pending until the list is refetched.
    onSuccess: refetchCovers,
    onError: (error) => {
      if (error instanceof ConflictError) void refetchCovers();
    },
  });
}

/** Undoes a change of a cover. Rejects with ConflictError if the same fields, or the order, were changed since. */
export function useUndoCoverChange() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async ({ order, fields }: SavedCoverChange) => {
      // undoneOrder throws on a conflict. It is called before anything is written, so that a conflict undoes nothing.
      const ids =
        order &&
        undoneOrder(
          (await fetchCoversInOrder(backend)).map(({ id }) => id),
          order,
        );
      if (fields) await updateIfUnchanged(backend, "cover_images", fields.row, fields.before);
      if (ids) await reorderCovers(backend, ids);
    },
    onSettled: () => refetch(queryClient, queryKeys.covers.all),
  });
}

/** The values of a cover in the fields of a change. */
function valuesOf(cover: CoverImage, change: CoverChange): CoverChange {
  return Object.fromEntries(
    (Object.keys(change) as (keyof CoverChange)[]).map((field) => [field, cover[field]]),
  );
}
