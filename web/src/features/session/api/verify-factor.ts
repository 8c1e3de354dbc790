import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/** Shows the code to the service; the client then holds a session of the second level. */
export async function verifyFactor(
  boot: Boot,
  body: { factorId: string; challengeId: string; code: string },
): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.mfa.verify(body);
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
