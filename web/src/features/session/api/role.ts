import { queryOptions } from "@tanstack/react-query";
import { retryDelay } from "@/lib/query-client";
import type { OwnerBackend } from "@/lib/backend";
import type { Role } from "@/lib/auth";

// PostgREST's answer when a single row was asked for and none exists: the normal case of a non-admin.
const NO_ROW = "PGRST116";

export const USER_ROLES = "user_roles";

export function roleOptions(client: OwnerBackend | null, userId: string | undefined) {
  return queryOptions({
    queryKey: [USER_ROLES, userId],
    enabled: client !== null && userId !== undefined,
    staleTime: Infinity,
    // While the service cannot be reached the role stays unknown: a reload must not throw the owner out.
    retry: true,
    retryDelay,
    // Whoever comes back to an open page may have lost the role meanwhile.
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
