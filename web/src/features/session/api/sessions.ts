import { useQuery } from "@tanstack/react-query";
import { authCall } from "@/features/session/api/auth-call";
import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import { useBoot, type Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";
import type { Device } from "@/lib/types";

/** A session of the account that is alive: a sign-in that is neither signed out nor expired. */
export type AccountSession = {
  id: string;
  created_at: string;
  /** When the session last got a new access token. */
  refreshed_at: string;
  device: Device;
  ip: string;
  /** Whether it is the session of this browser. */
  current: boolean;
};

/**
 * The key of the query of useAccountSessions. The second part is "admin", because signing out removes all queries with that part from
 * the cache.
 */
export const SESSIONS_KEY = ["auth_sessions", "admin"] as const;

/** Fetches the sessions of the account that are alive, the most recently used first. */
export function useAccountSessions() {
  const boot = useBoot();
  return useQuery({
    queryKey: SESSIONS_KEY,
    staleTime: 0,
    queryFn: async () => {
      const result = await authCall<AccountSession[]>(boot, "GET", "user/sessions");
      if (result.error) throw new Error(result.error.message, { cause: result.error });
      return result.data;
    },
  });
}

/** Ends one session of the account by its id. */
export function endSession(boot: Boot, id: string): Promise<{ error?: AuthFailure }> {
  return authCall<null>(boot, "DELETE", `user/sessions/${id}`);
}

/** Ends all sessions of the account except this browser's. */
export async function endOtherSessions(boot: Boot): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.signOut({ scope: "others" });
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
