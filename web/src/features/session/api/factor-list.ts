import { useQuery } from "@tanstack/react-query";
import { verifiedFactors } from "@/features/session/assurance";
import { useOwnerBackend } from "@/lib/backend";

/**
 * The key of the query of useFactorList, which only the account page uses. The second part is "admin", because signing out removes
 * all queries with that part from the cache.
 */
export const FACTOR_LIST_KEY = ["auth_factor_list", "admin"] as const;

/**
 * Fetches the verified second factors (authenticator apps and phones) for the account page. It fetches them on each visit, because
 * they may have changed on another device.
 */
export function useFactorList() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: FACTOR_LIST_KEY,
    staleTime: 0,
    queryFn: async () => {
      const { data, error } = await backend.auth.getUser();
      if (error) throw error;
      return verifiedFactors(data.user);
    },
  });
}
