import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProductPayload } from "@/features/admin-products/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";

/** Inserts a new work (a row of products) and refetches the lists of works. */
export function useCreateProduct() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (payload: ProductPayload) => {
      const { error } = await backend.from("products").insert(payload);
      if (error) throw error;
    },
    onSuccess: () => refetch(cache, queryKeys.products.all),
  });
}
