import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { CoverChange } from "@/features/admin-covers/schema";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import { ChangedMeanwhile, saveSeen } from "@/lib/save-seen";
import type { CoverImage } from "@/lib/types";

/** Rejects with ChangedMeanwhile when somebody else changed the same fields since the cover was seen. */
export function useUpdateCover() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const readAgain = () => cache.invalidateQueries({ queryKey: queryKeys.covers.all });
  return useMutation({
    mutationFn: ({ seen, change }: { seen: CoverImage; change: CoverChange }) =>
      saveSeen(backend, "cover_images", seen, change),
    // Returned, so that the card stays busy until it shows what the server has.
    onSuccess: readAgain,
    onError: (error) => {
      if (error instanceof ChangedMeanwhile) void readAgain();
    },
  });
}
