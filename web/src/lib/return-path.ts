const ADMIN_HOME = "/admin";

/** What the guard leaves in the history entry, so that a deep link survives signing in. */
export type ReturnState = { from: string };

/**
 * Where to go after signing in; only admin addresses of this site count. A mailed link carries it as `from` in the
 * query, because it opens a new page.
 */
export function returnPath(state: unknown, search?: URLSearchParams): string {
  const from = (state as Partial<ReturnState> | null)?.from ?? search?.get("from");
  return typeof from === "string" && /^\/admin(\/(?!auth)|$|\?)/.test(from) ? from : ADMIN_HOME;
}
