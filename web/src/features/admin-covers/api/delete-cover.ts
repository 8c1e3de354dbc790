import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ORDER_SCOPE, reorderCovers } from "@/features/admin-covers/api/cover-order";
import { useOwnerBackend } from "@/lib/backend";
import { BUCKETS } from "@/lib/constants";
import { refetch } from "@/lib/refetch";
import { removeCachedRow } from "@/lib/remove-cached-row";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";
import { removeObjects } from "@/lib/upload/remove-objects";

/**
 * Deletes a cover and its file. The row is deleted first: the server deletes a file without a row later, but a row
 * without its file would break the hero.
 */
export function useDeleteCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    scope: ORDER_SCOPE,
    mutationFn: async (cover: CoverImage) => {
      const { error } = await backend.from("cover_images").delete().eq("id", cover.id);
      if (error) throw error;
      const shared = cache
        .getQueryData<CoverImage[]>(queryKeys.covers.admin)
        ?.some(({ id, image_url }) => id !== cover.id && image_url === cover.image_url);
      await removeCachedRow(cache, queryKeys.covers.admin, cover.id); // before its file is deleted
      if (!shared) await removeObjects(backend, BUCKETS.covers, [cover.image_url]);
      // If renumbering fails, a number is missing until the next new cover renumbers them.
      await reorderCovers(backend, []).catch((reason: unknown) =>
        console.warn("The covers could not be renumbered", reason),
      );
    },
    onSuccess: () => refetch(cache, queryKeys.covers.all),
    // If only deleting the file failed, the row is gone.
    onError: () => void refetch(cache, queryKeys.covers.all),
  });
}
