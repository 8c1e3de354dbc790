import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** Read anew for each visit of the page and never under the owner's hands: a save tells when it is out of date. */
export function useSettings() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.settings.admin,
    staleTime: Infinity,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend.rpc("get_site_settings").abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}
