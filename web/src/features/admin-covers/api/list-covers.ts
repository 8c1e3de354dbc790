import { useQuery } from "@tanstack/react-query";
import { isPreparing } from "@/components/upload/media-state";
import { useOwnerBackend } from "@/lib/backend";
import { PREPARING_POLL_MS } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";

/**
 * Fetches all covers (the large pictures and videos at the top of the home page) in order, with the metadata of their files.
 * Polls while the server makes renditions of the files in other sizes and formats.
 */
export function useCovers() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.covers.admin,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("cover_images")
        .select("*,media,updated_at,has_begun,has_ended")
        .order("display_order", { ascending: true })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
    refetchInterval: ({ state }) => (isPreparing(state.data ?? []) ? PREPARING_POLL_MS : false),
  });
}
