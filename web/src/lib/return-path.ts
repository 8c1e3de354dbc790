const ADMIN_HOME = "/admin";

/** What the guard leaves in the history entry, so that a deep link survives signing in. */
export type ReturnState = { from: string };

/** Where to go after signing in; only admin addresses of this site count. */
export function returnPath(state: unknown): string {
  const from = (state as Partial<ReturnState> | null)?.from;
  return typeof from === "string" && /^\/admin(\/(?!auth)|$|\?)/.test(from) ? from : ADMIN_HOME;
}
