import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/**
 * Fetches the settings for a form each time the owner opens its page, but not again while the owner edits. A save compares the form
 * with the settings that the form was loaded with, so these must stay the same. If newer settings were saved meanwhile, the save
 * reports a conflict.
 */
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
