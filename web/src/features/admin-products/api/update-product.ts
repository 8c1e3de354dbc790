import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProductPayload } from "@/features/admin-products/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

export function useUpdateProduct() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, payload }: { id: string; payload: ProductPayload }) => {
      // single() turns "no such row" into an error: another tab may have deleted it.
      const { error } = await backend
        .from("products")
        .update(payload)
        .eq("id", id)
        .select("id")
        .single();
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.products.all }),
  });
}
