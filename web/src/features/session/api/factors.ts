import { queryOptions } from "@tanstack/react-query";
import { retryDelay } from "@/lib/query-client";
import type { SecondFactor } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import { verifiedFactors } from "@/features/session/assurance";

export const FACTORS = "auth_factors";

/**
 * The second factors that a session of the first level still owes. Asked of the service, not of the stored session:
 * the factor may have been set up on another device since.
 */
export function factorsOptions(
  client: OwnerBackend | null,
  userId: string | undefined,
  level: "aal1" | "aal2",
) {
  return queryOptions({
    queryKey: [FACTORS, userId, level],
    enabled: client !== null && userId !== undefined && level === "aal1",
    staleTime: Infinity,
    // The next session of this level asks anew.
    gcTime: 0,
    // As with the role: while the service cannot be reached nothing is known.
    retry: true,
    retryDelay,
    queryFn: async (): Promise<SecondFactor[]> => {
      const { data, error } = await client!.auth.getUser();
      if (!error) return verifiedFactors(data.user);
      const { status = 0 } = error;
      // Refused: the session is over, which the client itself tells.
      if (status >= 400 && status < 500 && status !== 429) return [];
      throw error;
    },
  });
}
