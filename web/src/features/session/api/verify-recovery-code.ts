import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { requestTokens } from "@/features/session/api/request-tokens";
import { failureOf } from "@/features/session/failure";

/**
 * Verifies a recovery code, which replaces a second factor once. A correct code raises the session to level aal2 (signed in with a
 * second factor), and the client stores the new tokens.
 */
export async function verifyRecoveryCode(
  boot: Boot,
  code: string,
): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { data } = await client.auth.getSession();
    const path = "factors/recovery_codes/verify";
    const result = await requestTokens(boot, path, { code }, data.session?.access_token);
    if (result.error) return result;
    const { error } = await client.auth.setSession(result.tokens);
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
