import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { BUCKETS } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";
import { removeObjects } from "@/lib/upload/remove-objects";

/** The row first: a file without a row is collected later, a row without its file is a broken hero. */
export function useDeleteCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (cover: CoverImage) => {
      const { error } = await backend.from("cover_images").delete().eq("id", cover.id);
      if (error) throw error;
      const shared = cache
        .getQueryData<CoverImage[]>(queryKeys.covers.admin)
        ?.some(({ id, image_url }) => id !== cover.id && image_url === cover.image_url);
      if (!shared) await removeObjects(backend, BUCKETS.covers, [cover.image_url]);
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.covers.all }),
    // The row may be gone although its file is not.
    onError: () => void cache.invalidateQueries({ queryKey: queryKeys.covers.all }),
  });
}
