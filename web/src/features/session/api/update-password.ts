import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/**
 * Gives the signed-in account a new password; the service ends its other sessions. `nonce` is the mailed code that an old
 * session must show where the site asks for it.
 */
export async function updatePassword(
  boot: Boot,
  password: string,
  nonce?: string,
): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.updateUser({ password, nonce });
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
