import { useRef } from "react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { coversInOrder, ORDER_SCOPE, reorderCovers } from "@/features/admin-covers/api/cover-order";
import { isNumbered, withChosen } from "@/features/admin-covers/order";
import { coverPayload } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { MediaKind } from "@/lib/upload/media-types";

/** An uploaded file. `chosen` is its place in the order in which the owner has chosen files on this page. */
type NewCover = { url: string; kind: MediaKind; chosen: number };

/**
 * Inserts a cover and moves it to its place among the covers chosen with it, whichever upload finishes first. A retry does
 * not insert a second row.
 */
export function useCreateCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const invalidate = () => refetch(cache, queryKeys.covers.all);
  // The place of each inserted cover in the order of choice, by its id.
  const choiceOrder = useRef(new Map<string, number>());
  // Ids of the inserted rows, by the URL of their file.
  const insertedIds = useRef(new Map<string, string>());
  return useMutation({
    scope: ORDER_SCOPE,
    mutationFn: async ({ url, kind, chosen }: NewCover) => {
      let covers = await coversInOrder(backend);
      if (!isNumbered(covers)) {
        await reorderCovers(backend, []);
        covers = await coversInOrder(backend);
      }
      let id = insertedIds.current.get(url);
      if (id === undefined) {
        const { data, error } = await backend
          .from("cover_images")
          .insert(coverPayload(url, kind, covers.length))
          .select("id")
          .single();
        if (error) throw error;
        ({ id } = data);
        insertedIds.current.set(url, id);
        choiceOrder.current.set(id, chosen);
      }
      const order = withChosen(covers, id, choiceOrder.current);
      if (order.at(-1) !== id) await reorderCovers(backend, order);
    },
    onSuccess: invalidate,
    // If only the reordering failed, the new row exists.
    onError: () => void invalidate(),
  });
}
