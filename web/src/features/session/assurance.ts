import type { Session, User } from "@supabase/supabase-js";
import type { SecondFactor } from "@/lib/auth";

/**
 * Reads the assurance level from the access token of a session (a JWT): aal2 if a second factor was verified, else aal1. The level
 * decides only what the page shows. The signature is not checked, because the server checks each token.
 */
export function assuranceLevel(session: Session): "aal1" | "aal2" {
  try {
    const payload = session.access_token.split(".")[1] ?? "";
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    return (claims as { aal?: unknown }).aal === "aal2" ? "aal2" : "aal1";
  } catch {
    return "aal1"; // the token cannot be read
  }
}

/** The verified second factors of a user that this site supports. Apps come first, because they need no mobile network. */
export function verifiedFactors(user: User): SecondFactor[] {
  return (user.factors ?? [])
    .filter(({ status, factor_type }) => status === "verified" && factor_type !== "webauthn")
    .map((factor) => ({
      id: factor.id,
      type: factor.factor_type === "phone" ? ("phone" as const) : ("totp" as const),
      name: factor.friendly_name ?? "",
      phone: "phone" in factor && typeof factor.phone === "string" ? factor.phone : "",
    }))
    .sort((a, b) => b.type.localeCompare(a.type)); // "totp" (an app) before "phone"
}
