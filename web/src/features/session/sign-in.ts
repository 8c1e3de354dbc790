import type { Auth } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import type { Translate } from "@/lib/i18n";
import { setUpAccount } from "@/features/session/api/set-up";
import { verifiedFactors } from "@/features/session/assurance";
import { failureOf } from "@/features/session/failure";
import { welcome } from "@/features/session/welcome";

/** See Auth.signIn. Rejects when the client cannot be loaded. */
export async function signIn(
  boot: Boot,
  t: Translate,
  ...[email, password]: Parameters<Auth["signIn"]>
): ReturnType<Auth["signIn"]> {
  const client = await ownerBackend(boot);
  const { data, error } = await client.auth.signInWithPassword({ email, password });
  if (error) return { error: failureOf(error) };
  if (verifiedFactors(data.user).length === 0) welcome(t);
  return {};
}

/** See Auth.setUp. Rejects when the client cannot be loaded. */
export async function setUp(
  boot: Boot,
  t: Translate,
  ...[token, email, password]: Parameters<Auth["setUp"]>
): ReturnType<Auth["setUp"]> {
  const answer = await setUpAccount(boot, { token, email, password });
  if (answer.error) return { error: answer.error };
  const client = await ownerBackend(boot);
  const { data, error } = await client.auth.setSession(answer.tokens);
  // The account exists by now and the link is spent: signing in is what remains.
  if (error) return { error: { code: "sign_in_needed", message: error.message } };
  // A link for an account that exists gives it a new password; its second factor stays.
  if (!data.user || verifiedFactors(data.user).length === 0) welcome(t);
  return {};
}
