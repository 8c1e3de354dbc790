import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProductPayload } from "@/features/admin-products/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { ConflictError, updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import { refetch } from "@/lib/refetch";
import type { Product } from "@/lib/types";

/** A change of a work. `base` is the version of the row from which the change was made. `payload` has the fields to save. */
type ProductUpdate = { base: Product; payload: Partial<ProductPayload> };

/**
 * Saves fields of a work (a row of products). Rejects with ConflictError if one of these fields was changed since `base` was read.
 */
export function useUpdateProduct() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const refetchProducts = () => refetch(queryClient, queryKeys.products.all);
  return useMutation({
    mutationFn: ({ base, payload }: ProductUpdate) =>
      updateIfUnchanged(backend, "products", base, payload),
    onSuccess: refetchProducts,
    onError: (error) => {
      if (error instanceof ConflictError) void refetchProducts();
    },
  });
}
