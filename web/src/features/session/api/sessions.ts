import { useQuery } from "@tanstack/react-query";
import { authCall, type Answer } from "@/features/session/api/auth-call";
import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import { useBoot, type Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/** One place where the account is signed in. */
export type OpenSession = {
  id: string;
  created_at: string;
  refreshed_at: string;
  user_agent: string;
  ip: string;
  current: boolean;
};

/** Under "admin", so that signing out forgets it. */
export const SESSIONS = ["auth_sessions", "admin"] as const;

/** The session used last first, as the service sends them. */
export function useOpenSessions() {
  const boot = useBoot();
  return useQuery({
    queryKey: SESSIONS,
    staleTime: 0,
    queryFn: async () => {
      const answer = await authCall<OpenSession[]>(boot, "GET", "user/sessions");
      if (answer.error) throw new Error(answer.error.message, { cause: answer.error });
      return answer.data;
    },
  });
}

export function endSession(boot: Boot, id: string): Promise<Answer<null>> {
  return authCall<null>(boot, "DELETE", `user/sessions/${id}`);
}

/** Ends every session but this one. */
export async function endOtherSessions(boot: Boot): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.signOut({ scope: "others" });
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
