import { useMutation, useQueryClient } from "@tanstack/react-query";
import { insertWork } from "@/features/admin-products/api/insert-work";
import type { ProductPayload } from "@/features/admin-products/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";

/** Inserts a new work (a row of products) and refetches the lists of works. A second call with the same id adds no second work. */
export function useCreateProduct() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, payload }: { id: string; payload: ProductPayload }) => {
      const { error } = await insertWork(backend, id, payload);
      if (error) throw error;
    },
    onSuccess: () => refetch(queryClient, queryKeys.products.all),
  });
}
