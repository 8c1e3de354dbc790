import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/** The id of a challenge, or why there is none. */
export type Challenge = { id: string; error?: undefined } | { error: AuthFailure };

/**
 * Creates a challenge for a second factor (an authenticator app or a phone). For five minutes, a code of the factor can be verified
 * with the id of the challenge. If the factor is a phone, the server sends the code to that phone.
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
