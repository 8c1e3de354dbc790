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

/**
 * Adds a cover (a large picture at the top of the home page) for each work, with the work's picture. The new covers come after
 * the existing ones, in the order of the works. Resolves with the ids of the new covers.
 */
export function useAddWorks() {
  const backend = useOwnerBackend();
  const boot = useBoot();
  const cache = useQueryClient();
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async (works: readonly WorkWithPicture[]) => {
      const urls: string[] = [];
      for (const { image_url } of works) urls.push(await copyPicture(backend, boot, image_url));
      let covers = await fetchCoversInOrder(backend);
      // The numbers of the new covers begin with the count of covers plus one, so gaps in the numbers are closed first.
      // reorderCovers with no ids keeps the order and numbers the covers from 1.
      if (!isNumbered(covers)) {
        await reorderCovers(backend, []);
        covers = await fetchCoversInOrder(backend);
      }
      const rows = works.map(({ title }, n) => ({
        ...coverPayload(urls[n]!, "image", covers.length + n),
        title,
      }));
      const { data, error } = await backend
        .from("cover_images")
        .insert(rows)
        .select("id,display_order");
      if (error) throw error;
      return data.toSorted((a, b) => a.display_order! - b.display_order!).map(({ id }) => id);
    },
    onSettled: () => refetch(cache, queryKeys.covers.all),
  });
}

/**
 * Undoes useAddWorks: deletes the new covers, given their ids. Their files are not deleted, so that the owner can still restore
 * these covers under "Recently deleted".
 */
export function useUndoAddedWorks() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async (ids: readonly string[]) => {
      const { error } = await backend
        .from("cover_images")
        .delete()
        .in("id", [...ids]);
      if (error) throw error;
      await reorderCovers(backend, []);
    },
    onSettled: () => refetch(cache, queryKeys.covers.all),
  });
}
