import type { QueryClient } from "@tanstack/react-query";
import { factorsOptions } from "@/features/session/api/factors";
import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/** Removes a second factor of the account. `last` says whether the account has no other factor. */
export async function removeFactor(
  boot: Boot,
  queryClient: QueryClient,
  { factorId, userId, last }: { factorId: string; userId: string; last: boolean },
): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const { error } = await client.auth.mfa.unenroll({ factorId });
    if (error) return { error: failureOf(error) };
    // Without a factor the next token has level aal1 (signed in without a second factor). For such a token the admin guard
    // would unmount the page until the factors are fetched. The empty list in the cache prevents that.
    if (last) queryClient.setQueryData(factorsOptions(client, userId, "aal1").queryKey, []);
    const refreshed = await client.auth.refreshSession();
    return refreshed.error ? { error: failureOf(refreshed.error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
