import type { AuthFailure } from "@/lib/auth";
import { messageOf } from "@/lib/errors";

/** Converts an error of supabase-js or of fetch to an AuthFailure. Its code is "offline" if there was no response. */
export function failureOf(error: unknown): AuthFailure {
  // Object makes an object of any value, so that reading the properties of null does not fail.
  const { name, code, status, reasons } = Object(error) as Record<string, unknown>;
  const message = messageOf(error);
  // fetch throws a TypeError if there is no response.
  if (error instanceof TypeError || (name === "AuthRetryableFetchError" && status === 0))
    return { code: "offline", message };
  // The session was ended in another tab.
  if (name === "AuthSessionMissingError") return { code: "session_missing", message };
  return {
    code: typeof code === "string" ? code : "unexpected",
    message,
    reasons: Array.isArray(reasons) ? reasons.map(String) : undefined,
  };
}
