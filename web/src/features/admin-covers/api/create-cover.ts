import { useMutation, useQueryClient } from "@tanstack/react-query";
import { coverPayload } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { MediaKind } from "@/lib/upload/media-types";

export function useCreateCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    // One after the other: two films that arrive together must not read the same count.
    scope: { id: "create-cover" },
    mutationFn: async ({ url, kind }: { url: string; kind: MediaKind }) => {
      const { count, error: countError } = await backend
        .from("cover_images")
        .select("id", { count: "exact", head: true });
      if (countError) throw countError;
      if (count === null) throw new Error("The answer carries no count");
      const { error } = await backend.from("cover_images").insert(coverPayload(url, kind, count));
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.covers.all }),
  });
}
