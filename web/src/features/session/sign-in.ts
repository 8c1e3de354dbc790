import type { Auth } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { messageOf } from "@/lib/errors";
import type { Translate } from "@/lib/i18n";
import { helperToast } from "@/lib/toast";
import { setUpAccount } from "@/features/session/api/set-up";

function welcome(t: Translate) {
  helperToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
}

/** See Auth.signIn. Rejects when the client cannot be loaded. */
export async function signIn(
  boot: Boot,
  t: Translate,
  ...[email, password]: Parameters<Auth["signIn"]>
): ReturnType<Auth["signIn"]> {
  const client = await ownerBackend(boot);
  const { error } = await client.auth.signInWithPassword({ email, password });
  if (error) return { error: messageOf(error, t("auth.unexpected")) };
  welcome(t);
  return {};
}

/** See Auth.setUp. Rejects when the service cannot be reached or the client cannot be loaded. */
export async function setUp(
  boot: Boot,
  t: Translate,
  ...[token, email, password]: Parameters<Auth["setUp"]>
): ReturnType<Auth["setUp"]> {
  const answer = await setUpAccount(boot, { token, email, password });
  if (answer.error) return { error: answer.error };
  const client = await ownerBackend(boot);
  const { error } = await client.auth.setSession(answer.tokens);
  // The account exists by now and the link is spent: signing in is what remains.
  if (error) return { error: { code: "sign_in_needed", message: error.message } };
  welcome(t);
  return {};
}
