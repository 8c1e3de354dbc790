import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** Fetches the work (a row of products) that a message asks about. The result is null if the work has been deleted. */
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
 * Fetches the works that the messages of a list ask about. `ids` are the ids of the works, sorted, because they are part of the
 * query key. The result is an object with the works by id. Works that have been deleted are missing in it.
 */
export function useArtworksById(ids: string[]) {
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
