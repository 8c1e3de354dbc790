import { queryOptions } from "@tanstack/react-query";
import { retryDelay } from "@/lib/query-client";
import type { SecondFactor } from "@/lib/auth";
import type { OwnerBackend } from "@/lib/backend";
import { verifiedFactors } from "@/features/session/assurance";

/** The first part of the query key of factorsOptions. */
export const FACTORS_KEY = "auth_factors";

/**
 * The query of the account's verified second factors (authenticator apps and phones). If there are any, a session of level aal1
 * (signed in without a second factor) must verify one of them. The query asks the server, because the factors that the browser
 * stores with the session can be out of date: another device may have enrolled one.
 */
export function factorsOptions(
  client: OwnerBackend,
  userId: string | undefined,
  level: "aal1" | "aal2",
) {
  return queryOptions({
    queryKey: [FACTORS_KEY, userId, level],
    enabled: userId !== undefined && level === "aal1",
    staleTime: Infinity,
    gcTime: 0, // the next aal1 session fetches again
    retry: true, // without limit, because nothing can be shown until the factors are known
    retryDelay,
    queryFn: async (): Promise<SecondFactor[]> => {
      const { data, error } = await client.auth.getUser();
      if (!error) return verifiedFactors(data.user);
      const { status = 0 } = error; // 0: no response
      // The server rejects the request if the session has ended. Then the client itself reports that the visitor is signed out.
      if (status >= 400 && status < 500 && status !== 429) return [];
      throw error;
    },
  });
}
