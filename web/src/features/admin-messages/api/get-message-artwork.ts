import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** Fetches the work that a message asks about; the data is null if the work has been deleted. */
export function useMessageArtwork(id: string) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: [...queryKeys.products.all, "asked", id],
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("products")
        .select("id, title, image_url, media")
        .eq("id", id)
        .limit(1)
        .abortSignal(signal);
      if (error) throw error;
      return data[0] ?? null;
    },
  });
}

/**
 * Fetches the works with these ids, as an object by id, without deleted works. The ids must be sorted, because they are part of
 * the query key.
 */
export function useMessageArtworks(ids: string[]) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: [...queryKeys.products.all, "asked", ids],
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("products")
        .select("id, title, image_url, media")
        .in("id", ids)
        .abortSignal(signal);
      if (error) throw error;
      return Object.fromEntries(data.map((work) => [work.id, work]));
    },
  });
}
