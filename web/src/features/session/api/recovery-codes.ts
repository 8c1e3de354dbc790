import { useQuery } from "@tanstack/react-query";
import { authCall, type Result } from "@/features/session/api/auth-call";
import { useBoot, type Boot } from "@/lib/boot";

/** The number of the account's recovery codes, and how many of them are unused. A code can replace a second factor once. */
type Count = { total: number; remaining: number };

/**
 * The key of the query of useRecoveryCount. The second part is "admin", because signing out removes all queries with that part from
 * the cache.
 */
export const RECOVERY_COUNT_KEY = ["auth_recovery_codes", "admin"] as const;

/** Fetches the number of the account's recovery codes. */
export function useRecoveryCount(enabled: boolean) {
  const boot = useBoot();
  return useQuery({
    queryKey: RECOVERY_COUNT_KEY,
    enabled,
    staleTime: 0,
    queryFn: async () => {
      const result = await authCall<Count>(boot, "GET", "factors/recovery_codes");
      if (result.error) throw new Error(result.error.message, { cause: result.error });
      return result.data;
    },
  });
}

/** Replaces all recovery codes of the account by ten new ones. The new codes cannot be read again later. */
export function makeRecoveryCodes(boot: Boot): Promise<Result<{ codes: string[] }>> {
  return authCall<{ codes: string[] }>(boot, "POST", "factors/recovery_codes");
}
