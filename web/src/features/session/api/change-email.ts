import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/**
 * Asks for another address. It counts once the links in both mails, to the old and the new one, were opened;
 * `changed` says that the service asks for no confirmation and has changed it.
 */
export async function changeEmail(
  boot: Boot,
  email: string,
): Promise<{ changed: boolean; error?: undefined } | { error: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const back = new URL("/admin/account", window.location.origin);
    const { data, error } = await client.auth.updateUser({ email }, { emailRedirectTo: back.href });
    return error ? { error: failureOf(error) } : { changed: !data.user.new_email };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
