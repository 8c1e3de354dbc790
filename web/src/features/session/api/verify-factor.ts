import { challengeFactor } from "@/features/session/api/challenge-factor";
import { failureOf } from "@/features/session/failure";
import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";

/**
 * Verifies a code of a second factor (an authenticator app or a phone). A correct code raises the session to level aal2 (signed in
 * with a second factor). Without `challengeId`, a challenge is created first (challengeFactor).
 */
export async function verifyFactor(
  boot: Boot,
  { factorId, challengeId, code }: { factorId: string; challengeId?: string; code: string },
): Promise<{ error?: AuthFailure }> {
  const challenge = challengeId ? { id: challengeId } : await challengeFactor(boot, factorId);
  if (challenge.error) return { error: challenge.error };
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.mfa.verify({ factorId, challengeId: challenge.id, code });
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
