import { useQuery } from "@tanstack/react-query";
import { authCall, type Result } from "@/features/session/api/auth-call";
import { useBoot, type Boot } from "@/lib/boot";

/** The account's recovery codes, each of which replaces a second factor once: how many were given, and how many are unused. */
type Count = { total: number; remaining: number };

/** The key of the query of useRecoveryCount. Signing out removes queries from the cache whose key has "admin" as its second part. */
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
