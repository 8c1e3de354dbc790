import type { Boot } from "@/lib/boot";
import type { AuthFailure } from "@/lib/auth";
import { failureOf } from "@/features/session/failure";

export type Tokens = { access_token: string; refresh_token: string };
export type TokensAnswer = { tokens: Tokens; error?: undefined } | { error: AuthFailure };

/** Asks the authentication service for a session, by a call of ours that the official client does not have. */
export async function postForTokens(
  boot: Boot,
  path: string,
  body: object,
  accessToken?: string,
): Promise<TokensAnswer> {
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
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) {
      const { reasons } = Object(answer.weak_password) as { reasons?: unknown };
      return { error: failureOf({ code: answer.error_code, message: answer.msg, reasons }) };
    }
    return {
      tokens: {
        access_token: String(answer.access_token),
        refresh_token: String(answer.refresh_token),
      },
    };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
