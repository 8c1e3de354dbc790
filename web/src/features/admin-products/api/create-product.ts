import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProductPayload } from "@/features/admin-products/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

export function useCreateProduct() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (payload: ProductPayload) => {
      const { error } = await backend.from("products").insert(payload);
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.products.all }),
  });
}
