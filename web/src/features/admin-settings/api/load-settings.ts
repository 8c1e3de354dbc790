import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/**
 * Fetches the settings for a form. A save compares the form with them. They are fetched at each visit of the page, but not
 * during editing, so that the comparison stays right. A save detects whether newer settings exist.
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
