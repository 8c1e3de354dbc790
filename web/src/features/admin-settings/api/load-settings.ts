import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/**
 * The settings as a base for forms. They are fetched on each visit of the page and not refetched during editing, which
 * would change the base; a save detects newer settings.
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
