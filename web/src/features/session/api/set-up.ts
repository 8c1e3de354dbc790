import type { Boot } from "@/lib/boot";
import { requestTokens, type TokensResult } from "@/features/session/api/request-tokens";

/**
 * Creates the owner's account with the token of a set-up link. A set-up link is a URL that works once and makes somebody the first
 * owner of a new site. Returns the tokens of the new session.
 */
export function setUpAccount(
  boot: Boot,
  body: { token: string; email: string; password: string },
): Promise<TokensResult> {
  return requestTokens(boot, "setup", body);
}
