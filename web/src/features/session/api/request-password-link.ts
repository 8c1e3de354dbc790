import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/**
 * Requests a mail with a link to the sign-in page, for choosing a new password. The response does not reveal whether the
 * account exists. `from` is where to go after signing in.
 */
export async function requestPasswordLink(
  boot: Boot,
  email: string,
  from: string,
): Promise<{ error?: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const returnUrl = new URL("/admin/auth", window.location.origin);
    if (from !== "/admin") returnUrl.searchParams.set("from", from);
    const { error } = await client.auth.resetPasswordForEmail(email, {
      redirectTo: returnUrl.href,
    });
    return error ? { error: failureOf(error) } : {};
  } catch (error) {
    return { error: failureOf(error) };
  }
}
