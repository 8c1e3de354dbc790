import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";

/**
 * Fetches how many works, series, covers and reviews lack a text in one of the two languages, for the overview of the admin area.
 * For works it also fetches how many lack alternative texts (what their pictures show, in words).
 */
export function useMissingTexts() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["missing-texts"], // not in lib/query-keys, because visitors download that file
    staleTime: 0, // works, covers and reviews are edited on other pages
    queryFn: async ({ signal }) => {
      const { data, error } = await backend.rpc("get_missing_texts").abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}
