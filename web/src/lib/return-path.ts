const ADMIN_HOME = "/admin";

/** The state of the sign-in page's history entry. `from` is the admin page that was requested without a session. */
export type ReturnState = { from: string };

/**
 * Returns the path to go to after signing in: the page that was requested. `state` is the state of the history entry. After a mailed
 * link the page is in ?from= of the URL (`search`). The path /admin replaces a path outside the admin area and the path of the
 * sign-in page, /admin/auth.
 */
export function returnPath(state: unknown, search?: URLSearchParams): string {
  const from = (state as Partial<ReturnState> | null)?.from ?? search?.get("from");
  return typeof from === "string" && /^\/admin(\/(?!auth)|$|\?)/.test(from) ? from : ADMIN_HOME;
}
