import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { CoverChange } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

export function useUpdateCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, change }: { id: string; change: CoverChange }) => {
      const { error } = await backend
        .from("cover_images")
        .update(change)
        .eq("id", id)
        .select("id")
        .single();
      if (error) throw error;
    },
    // Returned, so that the card stays busy until it shows what the server has.
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.covers.all }),
  });
}
