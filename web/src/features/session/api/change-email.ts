import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/**
 * Requests another email address for the account. The server mails a link to the old and to the new address. The change takes
 * effect when both links have been opened. `changed` is true if the server has changed the address immediately, without links.
 */
export async function changeEmail(
  boot: Boot,
  email: string,
): Promise<{ changed: boolean; error?: undefined } | { error: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const returnUrl = new URL("/admin/account", window.location.origin);
    const { data, error } = await client.auth.updateUser(
      { email },
      { emailRedirectTo: returnUrl.href },
    );
    // `new_email` is the requested address until the change takes effect.
    return error ? { error: failureOf(error) } : { changed: !data.user.new_email };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
