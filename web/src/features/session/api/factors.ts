import { queryOptions } from "@tanstack/react-query";
import { retryDelay } from "@/lib/query-client";
import type { SecondFactor } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import { verifiedFactors } from "@/features/session/assurance";

/** The first part of the key of the query below, with which the sign-in checks whether a factor must be verified. */
export const FACTORS = "auth_factors";

/**
 * The query of the account's second factors. A session of level aal1 (without a second factor) must verify one of them. The
 * factors are fetched from the server instead of read from the session, because a factor may have been enrolled on another device.
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
    // Not cached, so that the next aal1 session fetches again.
    gcTime: 0,
    // Retried without limit, like the role (role.ts).
    retry: true,
    retryDelay,
    queryFn: async (): Promise<SecondFactor[]> => {
      const { data, error } = await client!.auth.getUser();
      if (!error) return verifiedFactors(data.user);
      const { status = 0 } = error;
      // The server rejects the request if the session has ended. The official client reports that by itself.
      if (status >= 400 && status < 500 && status !== 429) return [];
      throw error;
    },
  });
}
