import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { refetch } from "@/lib/refetch";
import { removeCachedRow } from "@/lib/remove-cached-row";
import { queryKeys } from "@/lib/query-keys";

/** Deletes a work (a row of products) by its id. The server deletes the files of the work. */
export function useDeleteProduct() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("products").delete().eq("id", id);
      if (error) throw error;
      await removeCachedRow(queryClient, queryKeys.products.admin, id);
    },
    onSuccess: () => refetch(queryClient, queryKeys.products.all),
  });
}

/** How many works one request deletes at most. Their ids are in the URL of the request, whose length is limited. */
const IDS_PER_REQUEST = 200;

/** Deletes works by their ids, and refetches the lists of works. A work that no longer exists is not an error. */
export async function deleteProducts(
  backend: OwnerBackend,
  queryClient: QueryClient,
  ids: readonly string[],
): Promise<void> {
  try {
    for (let from = 0; from < ids.length; from += IDS_PER_REQUEST) {
      const batch = ids.slice(from, from + IDS_PER_REQUEST);
      const { error } = await backend.from("products").delete().in("id", batch);
      if (error) throw error;
      for (const id of batch) await removeCachedRow(queryClient, queryKeys.products.admin, id);
    }
  } finally {
    await refetch(queryClient, queryKeys.products.all);
  }
}
