import { challengeFactor } from "@/features/session/api/challenge-factor";
import { failureOf } from "@/features/session/failure";
import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";

/**
 * Shows the code to the service, in answer to a challenge or, when none was sent, to one that is opened for it; the
 * client then holds a session of the second level.
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
