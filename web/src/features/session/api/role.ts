import { queryOptions } from "@tanstack/react-query";
import { retryDelay } from "@/lib/query-client";
import type { OwnerBackend } from "@/lib/backend";
import type { Role } from "@/lib/auth";

/** PostgREST's error code for single() without a row: the account has no role. */
const NO_ROW = "PGRST116";

/** First part of the key of the query below. */
export const USER_ROLES = "user_roles";

/** The query of the account's role. Its data are null if the account has none or the server rejects the session. */
export function roleOptions(client: OwnerBackend | null, userId: string | undefined) {
  return queryOptions({
    queryKey: [USER_ROLES, userId],
    enabled: client !== null && userId !== undefined,
    staleTime: Infinity,
    // Retried without limit: in an outage the role stays unknown, so that the owner is not redirected as without a role.
    retry: true,
    retryDelay,
    // It is possible that the role is removed while the tab is in the background.
    refetchOnWindowFocus: "always",
    queryFn: async (): Promise<Role> => {
      const { data, error, status } = await client!
        .from("user_roles")
        .select("role")
        .eq("user_id", userId!)
        .single();
      if (!error) return data.role === "admin" ? "admin" : null;
      if (error.code === NO_ROW || status === 401 || status === 403) return null;
      throw error;
    },
  });
}
