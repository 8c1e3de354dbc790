import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { requestTokens } from "@/features/session/api/post";
import { failureOf } from "@/features/session/failure";

/** Verifies a recovery code instead of a second factor. The client gets a new session of level aal2. */
export async function verifyRecoveryCode(
  boot: Boot,
  code: string,
): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { data } = await client.auth.getSession();
    const path = "factors/recovery_codes/verify";
    const answer = await requestTokens(boot, path, { code }, data.session?.access_token);
    if (answer.error) return answer;
    const { error } = await client.auth.setSession(answer.tokens);
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
