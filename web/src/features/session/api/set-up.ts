import type { SetUpError } from "@/lib/auth";
import type { Boot } from "@/lib/boot";

type SetUpAnswer =
  | { tokens: { access_token: string; refresh_token: string }; error?: undefined }
  | { error: SetUpError };

/** Exchanges a one-time set-up token for an account; answers with a session like a sign-in. */
export async function setUpAccount(
  boot: Boot,
  body: { token: string; email: string; password: string },
): Promise<SetUpAnswer> {
  const response = await fetch(`${boot.apiUrl}/auth/v1/setup`, {
    method: "POST",
    headers: { apikey: boot.anonKey, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) {
    return {
      error: {
        code: typeof answer.error_code === "string" ? answer.error_code : "unexpected",
        message: typeof answer.msg === "string" ? answer.msg : "",
      },
    };
  }
  return {
    tokens: {
      access_token: String(answer.access_token),
      refresh_token: String(answer.refresh_token),
    },
  };
}
