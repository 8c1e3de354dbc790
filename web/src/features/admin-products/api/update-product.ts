import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProductPayload } from "@/features/admin-products/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { ChangedMeanwhile, saveSeen } from "@/lib/save-seen";
import type { Product } from "@/lib/types";

/** Rejects with ChangedMeanwhile when somebody else saved the work since it was seen. */
export function useUpdateProduct() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const readAgain = () => cache.invalidateQueries({ queryKey: queryKeys.products.all });
  return useMutation({
    mutationFn: ({ seen, payload }: { seen: Product; payload: ProductPayload }) =>
      saveSeen(backend, "products", seen, payload),
    onSuccess: readAgain,
    onError: (error) => {
      if (error instanceof ChangedMeanwhile) void readAgain();
    },
  });
}
