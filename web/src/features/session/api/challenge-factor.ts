import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

export type Challenge = { id: string; error?: undefined } | { error: AuthFailure };

/** Opens a challenge, which lives five minutes. For a phone its code leaves by text message. */
export async function challengeFactor(boot: Boot, factorId: string): Promise<Challenge> {
  try {
    const client = await ownerBackend(boot);
    const { data, error } = await client.auth.mfa.challenge({ factorId });
    return error ? { error: failureOf(error) } : { id: data.id };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
