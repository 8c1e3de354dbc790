import type { AuthFailure } from "@/lib/auth";
import { messageOf } from "@/lib/errors";

/** Reads what the client, or `fetch` itself, has answered or thrown. */
export function failureOf(error: unknown): AuthFailure {
  const { name, code, status, reasons } = Object(error) as Record<string, unknown>;
  const message = messageOf(error);
  if (error instanceof TypeError || (name === "AuthRetryableFetchError" && status === 0))
    return { code: "offline", message };
  // The client finds no session in the storage: it was ended on another tab.
  if (name === "AuthSessionMissingError") return { code: "session_missing", message };
  return {
    code: typeof code === "string" ? code : "unexpected",
    message,
    reasons: Array.isArray(reasons) ? reasons.map(String) : undefined,
  };
}
