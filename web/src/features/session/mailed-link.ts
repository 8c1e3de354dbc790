import type { AuthFailure } from "@/lib/auth";

// Mailed links of the auth service open a page of the site. Their session is in the hash of the URL, as parameters. An
// error is there or in the query string.

const parameters = (hash: string) => new URLSearchParams(hash.replace(/^#/, ""));

/** Whether the hash belongs to a link of a mail "new password" or "invitation", with which a password is chosen. */
export function isPasswordLink(hash: string): boolean {
  const link = parameters(hash);
  return link.has("access_token") && ["recovery", "invite"].includes(link.get("type") ?? "");
}

/** The URL of the step that chooses a new password; it keeps the other query parameters. */
export function newPasswordUrl(search: string): string {
  const query = new URLSearchParams(search);
  query.set(NEW_PASSWORD, "");
  return `/admin/auth?${query.toString()}`;
}

/** The names of the query parameters of /admin/auth that choose a step. */
export const NEW_PASSWORD = "new-password";
export const FORGOTTEN = "forgotten";

/** The error of a mailed link, which is in the hash or in the query; null if there is none. */
export function linkFailure(hash: string, search: URLSearchParams): AuthFailure | null {
  for (const source of [parameters(hash), search]) {
    const code = source.get("error_code") ?? source.get("error");
    if (code) return { code, message: source.get("error_description") ?? "" };
  }
  return null;
}

/** Whether the hash contains the session of a mailed link. */
export function hasSessionInHash(hash: string): boolean {
  return parameters(hash).has("access_token");
}
