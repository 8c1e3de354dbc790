import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { authCall } from "@/features/session/api/auth-call";
import { failureOf } from "@/features/session/failure";

/** Mails a code to the account's address. The user can give it to `reauthenticate` instead of the password. */
export async function sendReauthenticationCode(boot: Boot): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.reauthenticate();
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}

/** The proof of the user's identity: the password, or the mailed code (`nonce`). */
export type Proof = { current_password: string } | { nonce: string };

/** Reauthenticates the session. For the next ten minutes the server accepts calls that need a recent sign-in. */
export async function reauthenticate(boot: Boot, proof: Proof): Promise<{ error?: AuthFailure }> {
  const { error } = await authCall(boot, "POST", "reauthenticate", proof);
  return error ? { error } : {};
}
