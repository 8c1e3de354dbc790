import { useQuery } from "@tanstack/react-query";
import { verifiedFactors } from "@/features/session/assurance";
import { useOwnerBackend } from "@/lib/backend";

/**
 * The key of the query of useFactorList, which only the account page uses. Signing out removes queries from the cache whose key has
 * "admin" as its second part.
 */
export const FACTOR_LIST_KEY = ["auth_factor_list", "admin"] as const;

/** Fetches the verified second factors for the account page, on each visit, because another device may have changed them. */
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
