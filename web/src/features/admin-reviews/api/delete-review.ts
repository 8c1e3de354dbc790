import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The server releases the avatar of a deleted row by itself. */
export function useDeleteReview() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("reviews").delete().eq("id", id);
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.reviews.all }),
  });
}
