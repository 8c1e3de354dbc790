import { useQuery } from "@tanstack/react-query";
import { isPreparing } from "@/components/upload/media-state";
import { useOwnerBackend } from "@/lib/backend";
import { PREPARING_MS } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";

export function useProducts() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.products.admin,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("products")
        .select("*,media")
        .order("created_at", { ascending: false })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
    refetchInterval: ({ state }) => (isPreparing(state.data ?? []) ? PREPARING_MS : false),
  });
}
