import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

export function useCovers() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.covers.admin,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("cover_images")
        .select("*,media")
        .order("display_order", { ascending: true })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}
