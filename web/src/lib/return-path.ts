const ADMIN_HOME = "/admin";

/** The state that the admin guard gives the history entry of the sign-in page. `from` is the page that was requested. */
export type ReturnState = { from: string };

/**
 * Where to go after signing in: the requested page, from the history entry or, for a mailed link, from ?from=. Only paths
 * of the admin area are accepted, except the sign-in page; the default is /admin.
 */
export function returnPath(state: unknown, search?: URLSearchParams): string {
  const from = (state as Partial<ReturnState> | null)?.from ?? search?.get("from");
  return typeof from === "string" && /^\/admin(\/(?!auth)|$|\?)/.test(from) ? from : ADMIN_HOME;
}
