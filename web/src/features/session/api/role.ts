import { queryOptions } from "@tanstack/react-query";
import { retryDelay } from "@/lib/query-client";
import type { OwnerBackend } from "@/lib/backend";
import type { Role } from "@/lib/auth";

/** PostgREST's error code for single() without a row: the account has no role. */
const NO_ROW = "PGRST116";

/** The first part of the query key of roleOptions. */
export const ROLE_KEY = "user_roles";

/** The query of the account's role. The data are null if the account has no role, or if the server rejects the session. */
export function roleOptions(client: OwnerBackend, userId: string | undefined) {
  return queryOptions({
    queryKey: [ROLE_KEY, userId],
    enabled: userId !== undefined,
    staleTime: Infinity,
    gcTime: 0, // the next session fetches again
    // Without limit, so that the role stays unknown during an outage. If the role became null, an owner would be redirected.
    retry: true,
    retryDelay,
    refetchOnWindowFocus: "always", // the role may have been removed while the tab was in the background
    queryFn: async (): Promise<Role> => {
      const { data, error, status } = await client
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
