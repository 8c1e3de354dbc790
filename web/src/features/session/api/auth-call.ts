import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/** The result of a call: the data of the response, or in `error` why the call failed. */
export type Result<Data> = { data: Data; error?: undefined } | { error: AuthFailure };

/**
 * Calls an endpoint under /auth/v1 that supabase-js lacks, with the token of the current session. Never rejects, because failures
 * are in the result. If nobody is signed in, the failure has the code "session_missing".
 */
export async function authCall<Data>(
  boot: Boot,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: object,
): Promise<Result<Data>> {
  try {
    const client = await ownerBackend(boot);
    const { data } = await client.auth.getSession();
    if (!data.session) return { error: { code: "session_missing", message: "" } };
    const headers: Record<string, string> = {
      apikey: boot.anonKey,
      Authorization: `Bearer ${data.session.access_token}`,
    };
    const request: RequestInit = { method, headers };
    if (body) {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(body);
    }
    const response = await fetch(`${boot.apiUrl}/auth/v1/${path}`, request);
    const json: unknown = response.status === 204 ? null : await response.json();
    if (response.ok) return { data: json as Data };
    // Object makes an object of any JSON value, so that reading the properties of null does not fail.
    const { error_code: code, msg: message } = Object(json) as Record<string, unknown>;
    return { error: failureOf({ code, message }) };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
