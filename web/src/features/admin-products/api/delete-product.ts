import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { refetch } from "@/lib/refetch";
import { removeCachedRow } from "@/lib/remove-cached-row";
import { queryKeys } from "@/lib/query-keys";

/** Deletes a work by its id. The server deletes the files of the work. */
export function useDeleteProduct() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("products").delete().eq("id", id);
      if (error) throw error;
      await removeCachedRow(cache, queryKeys.products.admin, id);
    },
    onSuccess: () => refetch(cache, queryKeys.products.all),
  });
}
