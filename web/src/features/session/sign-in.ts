import type { Auth } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import type { Translate } from "@/lib/i18n";
import { setUpAccount } from "@/features/session/api/set-up";
import { verifiedFactors } from "@/features/session/assurance";
import { failureOf } from "@/features/session/failure";
import { showWelcome } from "@/features/session/welcome";

// The two ways to sign in. AuthProvider loads this module when a form calls signIn or setUp of useAuth.

/**
 * Signs in by email and password, and shows the welcome toast unless a second factor must be verified. Rejects if supabase-js cannot
 * be loaded.
 */
export async function signIn(
  boot: Boot,
  t: Translate,
  ...[email, password]: Parameters<Auth["signIn"]>
): ReturnType<Auth["signIn"]> {
  const client = await ownerBackend(boot);
  const { data, error } = await client.auth.signInWithPassword({ email, password });
  if (error) return { error: failureOf(error) };
  if (verifiedFactors(data.user).length === 0) showWelcome(t);
  return {};
}

/**
 * Creates the owner's account with the token of a set-up link, which works once, and signs in. The error code "sign_in_needed" means
 * that the account exists but the sign-in failed. Rejects if supabase-js cannot be loaded.
 */
export async function setUp(
  boot: Boot,
  t: Translate,
  ...[token, email, password]: Parameters<Auth["setUp"]>
): ReturnType<Auth["setUp"]> {
  const result = await setUpAccount(boot, { token, email, password });
  if (result.error) return { error: result.error };
  const client = await ownerBackend(boot);
  const { data, error } = await client.auth.setSession(result.tokens);
  // The account exists and the link has been used, so the owner has to sign in with the new password.
  if (error) return { error: { code: "sign_in_needed", message: error.message } };
  // If the account existed before, the link has set a new password. A second factor of the account must be verified next.
  if (!data.user || verifiedFactors(data.user).length === 0) showWelcome(t);
  return {};
}
