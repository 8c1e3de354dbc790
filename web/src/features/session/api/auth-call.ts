import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

export type Answer<Data> = { data: Data; error?: undefined } | { error: AuthFailure };

/** A call of ours to the authentication service that the official client does not have, as the signed-in account. */
export async function authCall<Data>(
  boot: Boot,
  method: "GET" | "POST" | "DELETE",
  path: string,
): Promise<Answer<Data>> {
  try {
    const client = await ownerBackend(boot);
    const { data } = await client.auth.getSession();
    if (!data.session) return { error: { code: "session_missing", message: "" } };
    const response = await fetch(`${boot.apiUrl}/auth/v1/${path}`, {
      method,
      headers: { apikey: boot.anonKey, Authorization: `Bearer ${data.session.access_token}` },
    });
    const answer: unknown = response.status === 204 ? null : await response.json();
    if (response.ok) return { data: answer as Data };
    const { error_code: code, msg: message } = Object(answer) as Record<string, unknown>;
    return { error: failureOf({ code, message }) };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
