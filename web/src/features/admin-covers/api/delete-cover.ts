import { useMutation, useQueryClient } from "@tanstack/react-query";
import { COVER_SCOPE, reorderCovers } from "@/features/admin-covers/api/cover-order";
import { useOwnerBackend } from "@/lib/backend";
import { BUCKETS } from "@/lib/constants";
import { refetch } from "@/lib/refetch";
import { removeCachedRow } from "@/lib/remove-cached-row";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";
import { removeObjects } from "@/lib/upload/remove-objects";

/**
 * Deletes a cover (a large picture or video at the top of the home page): first its row and then its file. If deleting the file
 * fails, the file without a row does no harm, because the server deletes it later. In the other order, a row without its file could
 * be left, and would break the hero (the first section of the home page).
 */
export function useDeleteCover() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: COVER_SCOPE,
    mutationFn: async (cover: CoverImage) => {
      const { error } = await backend.from("cover_images").delete().eq("id", cover.id);
      if (error) throw error;
      // Whether another cover uses the same file.
      const isShared = queryClient
        .getQueryData<CoverImage[]>(queryKeys.covers.admin)
        ?.some(({ id, image_url }) => id !== cover.id && image_url === cover.image_url);
      // The card disappears before its file is deleted, so that it never shows a file that no longer exists.
      await removeCachedRow(queryClient, queryKeys.covers.admin, cover.id);
      if (!isShared) await removeObjects(backend, BUCKETS.covers, [cover.image_url]);
      // If renumbering fails, a number is missing until the next new cover renumbers all covers.
      await reorderCovers(backend, []).catch((reason: unknown) =>
        console.warn("The covers could not be renumbered", reason),
      );
    },
    onSuccess: () => refetch(queryClient, queryKeys.covers.all),
    // The row may already be deleted: an error can also come from deleting the file.
    onError: () => void refetch(queryClient, queryKeys.covers.all),
  });
}
