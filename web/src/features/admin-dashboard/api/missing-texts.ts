import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";

/** Fetches how many rows lack a text in one language, or their pictures' alternative texts. */
export function useMissingTexts() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["missing-texts"], // not in lib/query-keys, which visitors download
    staleTime: 0, // works, covers and reviews are edited on other pages
    queryFn: async ({ signal }) => {
      const { data, error } = await backend.rpc("get_missing_texts").abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}
