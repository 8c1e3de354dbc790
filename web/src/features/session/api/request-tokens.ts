import type { Boot } from "@/lib/boot";
import type { AuthFailure } from "@/lib/auth";
import { failureOf } from "@/features/session/failure";

type Tokens = { access_token: string; refresh_token: string };
/** The tokens of a new session, or why there is none. */
export type TokensResult = { tokens: Tokens; error?: undefined } | { error: AuthFailure };

/**
 * Requests a session by a POST to an endpoint under /auth/v1 that supabase-js lacks. `accessToken` is the token of the current
 * session, if the endpoint needs one. Never rejects.
 */
export async function requestTokens(
  boot: Boot,
  path: string,
  body: object,
  accessToken?: string,
): Promise<TokensResult> {
  const headers: Record<string, string> = {
    apikey: boot.anonKey,
    "Content-Type": "application/json",
  };
  if (accessToken) headers.Authorization = `Bearer ${accessToken}`;
  try {
    const response = await fetch(`${boot.apiUrl}/auth/v1/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const json = (await response.json()) as Record<string, unknown>;
    if (!response.ok) {
      // Only the error of a weak password has weak_password. For other errors Object makes an empty object of undefined.
      const { reasons } = Object(json.weak_password) as { reasons?: unknown };
      return { error: failureOf({ code: json.error_code, message: json.msg, reasons }) };
    }
    return {
      tokens: {
        access_token: String(json.access_token),
        refresh_token: String(json.refresh_token),
      },
    };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
