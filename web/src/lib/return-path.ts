const ADMIN_HOME = "/admin";

/** The state of the sign-in page's history entry. `from` is the admin page that was requested without a session. */
export type ReturnState = { from: string };

/**
 * Returns the path to go to after signing in: the requested page, from the history entry or, after a mailed link, from ?from= of the
 * URL. Any path that is not a page of the admin area, or is the sign-in page, is replaced by /admin.
 */
export function returnPath(state: unknown, search?: URLSearchParams): string {
  const from = (state as Partial<ReturnState> | null)?.from ?? search?.get("from");
  return typeof from === "string" && /^\/admin(\/(?!auth)|$|\?)/.test(from) ? from : ADMIN_HOME;
}
