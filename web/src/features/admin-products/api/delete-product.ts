import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The server releases the files of a deleted row by itself. */
export function useDeleteProduct() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("products").delete().eq("id", id);
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.products.all }),
  });
}
