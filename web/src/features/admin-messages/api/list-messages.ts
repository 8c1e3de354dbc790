import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

export function useMessages() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: queryKeys.messages.admin,
    staleTime: 0, // visitors write while the owner looks elsewhere
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("contact_submissions")
        .select("*")
        .order("created_at", { ascending: false })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}
