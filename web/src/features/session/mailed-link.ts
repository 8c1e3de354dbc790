import type { AuthFailure } from "@/lib/auth";

// Reads the parameters of the links that the auth service mails. A mailed link leads to a page of the site. The hash of the page's
// URL then has the new session: #access_token=...&type=recovery. If the link was not valid, the hash or the query string has an
// error instead: #error_code=otp_expired&error_description=...

/** The query parameter of /admin/auth, the sign-in page, that selects the step for choosing a new password. */
export const NEW_PASSWORD = "new-password";
/** The query parameter of /admin/auth that selects the step for requesting a mail with a password link. */
export const FORGOTTEN = "forgotten";

const parseHash = (hash: string) => new URLSearchParams(hash.replace(/^#/, ""));

/** Whether the hash comes from the link of a password reset or an invitation. The user then chooses a password. */
export function isPasswordLink(hash: string): boolean {
  const link = parseHash(hash);
  return link.has("access_token") && ["recovery", "invite"].includes(link.get("type") ?? "");
}

/** The URL of the step that chooses a new password; it keeps the other query parameters. */
export function newPasswordUrl(search: string): string {
  const query = new URLSearchParams(search);
  query.set(NEW_PASSWORD, "");
  return `/admin/auth?${query.toString()}`;
}

/** The error of a mailed link, from the hash or the query; null if there is none. */
export function linkFailure(hash: string, search: URLSearchParams): AuthFailure | null {
  for (const source of [parseHash(hash), search]) {
    const code = source.get("error_code") ?? source.get("error");
    if (code) return { code, message: source.get("error_description") ?? "" };
  }
  return null;
}

/** Whether the hash contains the session of a mailed link. */
export function hasSessionInHash(hash: string): boolean {
  return parseHash(hash).has("access_token");
}
