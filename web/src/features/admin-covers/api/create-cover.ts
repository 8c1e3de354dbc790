import { useRef } from "react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  fetchCoversInOrder,
  COVER_SCOPE,
  reorderCovers,
} from "@/features/admin-covers/api/cover-order";
import { isNumbered, idsWithNewCover } from "@/features/admin-covers/order";
import { coverPayload } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import { randomUuid } from "@/lib/upload/file-name";
import type { MediaKind } from "@/lib/upload/media-types";

type NewCover = {
  /** URL of the uploaded file. */
  url: string;
  kind: MediaKind;
  /** The position of the file among all files that the owner has chosen on this page. */
  chosenIndex: number;
  /** Aborts the insertion while it has not begun: one cover is inserted after the other. */
  signal?: AbortSignal;
};

/**
 * Inserts a cover (a large picture or video at the top of the home page). New covers have the order in which the owner has
 * chosen their files, even if the uploads finish in another order. A retry for the same file does not insert a second row.
 */
export function useCreateCover() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const refetchCovers = () => refetch(queryClient, queryKeys.covers.all);
  // The chosenIndex of each cover that was added on this page, by the cover's id.
  const chosenIndexes = useRef(new Map<string, number>());
  // The ids of the new rows, by the URL of their file. They are chosen here, so that a retry after a lost response finds the row.
  const newIds = useRef(new Map<string, string>());
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async ({ url, kind, chosenIndex, signal }: NewCover) => {
      let covers = await fetchCoversInOrder(backend);
      // The number of the new cover is the count of covers plus one, so gaps in the numbers are closed first. reorderCovers with
      // no ids keeps the order and numbers the covers from 1.
      if (!isNumbered(covers)) {
        await reorderCovers(backend, []);
        covers = await fetchCoversInOrder(backend);
      }
      signal?.throwIfAborted();
      const id = newIds.current.get(url) ?? randomUuid();
      newIds.current.set(url, id);
      chosenIndexes.current.set(id, chosenIndex);
      if (!covers.some((cover) => cover.id === id)) {
        const { error } = await backend
          .from("cover_images")
          .insert({ id, ...coverPayload(url, kind, covers.length) });
        if (error) throw error;
      }
      const ids = idsWithNewCover(covers, id, chosenIndexes.current);
      // The inserted cover has the last number already.
      if (ids.at(-1) !== id) await reorderCovers(backend, ids);
    },
    onSuccess: refetchCovers,
    // If only the reordering has failed, the row exists.
    onError: () => void refetchCovers(),
  });
}
