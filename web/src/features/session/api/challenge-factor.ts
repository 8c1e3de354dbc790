import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

export type Challenge = { id: string; error?: undefined } | { error: AuthFailure };

/**
 * Starts the verification of a second factor; the challenge is valid for five minutes. For a phone the server sends the
 * code.
 */
export async function challengeFactor(boot: Boot, factorId: string): Promise<Challenge> {
  try {
    const client = await ownerBackend(boot);
    const { data, error } = await client.auth.mfa.challenge({ factorId });
    return error ? { error: failureOf(error) } : { id: data.id };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
