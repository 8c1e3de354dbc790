import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { GuideState } from "@/lib/types";

/**
 * Fetches the settings and the state of the first-run guide. In the guide, the owner of a new site replaces the seed (the texts and
 * settings that the site starts with). The checklist on the overview uses this query. Forms use useSettings, whose data does not
 * change while the owner edits.
 */
export function useGuide() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.settings.guide,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend.rpc("get_site_settings").abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}

/** Saves that the guide is finished or dismissed. */
export function useSaveGuideState() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (guide: GuideState) => {
      const { data, error } = await backend.rpc("save_site_settings", { guide });
      if (error) throw error;
      return data;
    },
    onSuccess: (saved) => queryClient.setQueryData(queryKeys.settings.guide, saved),
  });
}
