import { useMutation, useQueryClient } from "@tanstack/react-query";
import { copyPicture } from "@/features/admin-covers/api/copy-picture";
import {
  COVER_SCOPE,
  fetchCoversInOrder,
  reorderCovers,
} from "@/features/admin-covers/api/cover-order";
import type { WorkWithPicture } from "@/features/admin-covers/api/list-works";
import { isNumbered } from "@/features/admin-covers/order";
import { coverPayload } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import { randomUuid } from "@/lib/upload/file-name";

type AddRequest = { works: readonly WorkWithPicture[]; newCovers: NewCovers };

/** The ids and the pictures of the new covers, by the id of their work. */
export type NewCovers = Map<string, { id: string; image_url: string }>;

/**
 * Adds a cover (a large picture at the top of the home page) for each work, with the work's picture. The new covers come after
 * the existing ones, in the order of the works. Resolves with the ids of the new covers. The call adds them to `newCovers`, which is
 * empty at first. A retry with the same `newCovers` neither copies a picture nor adds a cover again.
 */
export function useAddWorks() {
  const backend = useOwnerBackend();
  const boot = useBoot();
  const queryClient = useQueryClient();
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async ({ works, newCovers }: AddRequest) => {
      for (const work of works) {
        if (newCovers.has(work.id)) continue;
        const image_url = await copyPicture(backend, boot, work.image_url);
        newCovers.set(work.id, { id: randomUuid(), image_url });
      }
      let covers = await fetchCoversInOrder(backend);
      // The numbers of the new covers begin with the count of covers plus one, so gaps in the numbers are closed first.
      // reorderCovers with no ids keeps the order and numbers the covers from 1.
      if (!isNumbered(covers)) {
        await reorderCovers(backend, []);
        covers = await fetchCoversInOrder(backend);
      }
      const storedIds = new Set(covers.map(({ id }) => id));
      const rows = works
        .map(({ id, title }) => ({ ...newCovers.get(id)!, title }))
        .filter(({ id }) => !storedIds.has(id))
        .map(({ id, image_url, title }, n) => ({
          id,
          ...coverPayload(image_url, "image", covers.length + n),
          title,
        }));
      if (rows.length > 0) {
        const { error } = await backend.from("cover_images").insert(rows);
        if (error) throw error;
      }
      return works.map(({ id }) => newCovers.get(id)!.id);
    },
    onSettled: () => refetch(queryClient, queryKeys.covers.all),
  });
}

/**
 * Undoes useAddWorks: deletes the new covers, given their ids. Their files are not deleted, so that the owner can still restore
 * these covers under "Recently deleted".
 */
export function useUndoAddedWorks() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async (ids: readonly string[]) => {
      const { error } = await backend
        .from("cover_images")
        .delete()
        .in("id", [...ids]);
      if (error) throw error;
      await reorderCovers(backend, []); // closes the gaps in the numbers
    },
    onSettled: () => refetch(queryClient, queryKeys.covers.all),
  });
}
