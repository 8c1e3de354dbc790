import { useQuery } from "@tanstack/react-query";
import { isPreparing } from "@/components/upload/media-state";
import { useOwnerBackend } from "@/lib/backend";
import { PREPARING_POLL_MS } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";

/**
 * Fetches all reviews (what clients said) in order, also hidden ones. Fetches again and again while the server makes renditions
 * (other sizes and formats) of avatars.
 */
export function useReviews() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.reviews.admin,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("reviews")
        // The server does not include media (the metadata of the files) and updated_at in *.
        .select("*,media,updated_at")
        .order("display_order", { ascending: true })
        .order("created_at", { ascending: false })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
    refetchInterval: ({ state }) => (isPreparing(state.data ?? []) ? PREPARING_POLL_MS : false),
  });
}
