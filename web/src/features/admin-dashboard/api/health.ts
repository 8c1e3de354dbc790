import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";

/**
 * Fetches the health of the site, for the overview of the admin area: the state of its backups, disk, mails and certificate, its
 * version, and the problems that the owner or the operator must act on.
 */
export function useSiteHealth() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["health"], // not in lib/query-keys, because visitors download that file
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend.rpc("get_site_health").abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}
