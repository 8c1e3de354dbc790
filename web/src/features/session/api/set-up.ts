import type { Boot } from "@/lib/boot";
import { postForTokens, type TokensAnswer } from "@/features/session/api/post";

/** Exchanges a one-time set-up token for an account; answers with a session like a sign-in. */
export function setUpAccount(
  boot: Boot,
  body: { token: string; email: string; password: string },
): Promise<TokensAnswer> {
  return postForTokens(boot, "setup", body);
}
