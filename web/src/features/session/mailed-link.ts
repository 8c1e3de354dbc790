import type { AuthFailure } from "@/lib/auth";

const parameters = (hash: string) => new URLSearchParams(hash.replace(/^#/, ""));

/** A link of the mails "new password" and "invitation": its session is there for choosing a password. */
export function isPasswordLink(hash: string): boolean {
  const link = parameters(hash);
  return link.has("access_token") && ["recovery", "invite"].includes(link.get("type") ?? "");
}

/** The address of the step "new password", with what else the query said, such as where to go afterwards. */
export function newPasswordAddress(search: string): string {
  const query = new URLSearchParams(search);
  query.set(NEW_PASSWORD, "");
  return `/admin/auth?${query.toString()}`;
}

/** Names of the steps in the query of /admin/auth. */
export const NEW_PASSWORD = "new-password";
export const FORGOTTEN = "forgotten";

/** What the service says of a link that opened nothing: behind #, or in the query as well. */
export function linkFailure(hash: string, search: URLSearchParams): AuthFailure | null {
  for (const told of [parameters(hash), search]) {
    const code = told.get("error_code") ?? told.get("error");
    if (code) return { code, message: told.get("error_description") ?? "" };
  }
  return null;
}

/** Whether the address still holds a session, which the client takes out of it as soon as it has it. */
export function holdsSession(hash: string): boolean {
  return parameters(hash).has("access_token");
}
