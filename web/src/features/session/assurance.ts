import type { Session, User } from "@supabase/supabase-js";
import type { SecondFactor } from "@/lib/auth";

/** How the session was opened, as its access token says; the server alone decides what it may do. */
export function assuranceLevel(session: Session): "aal1" | "aal2" {
  try {
    const payload = session.access_token.split(".")[1] ?? "";
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    return (claims as { aal?: unknown }).aal === "aal2" ? "aal2" : "aal1";
  } catch {
    return "aal1"; // nothing that can be read proves a second factor
  }
}

/** The account's finished factors, those of an app first: they work without a network. */
export function verifiedFactors(user: User): SecondFactor[] {
  return (user.factors ?? [])
    .filter(({ status, factor_type }) => status === "verified" && factor_type !== "webauthn")
    .map((factor) => ({
      id: factor.id,
      type: factor.factor_type === "phone" ? ("phone" as const) : ("totp" as const),
      name: factor.friendly_name ?? "",
      phone: "phone" in factor && typeof factor.phone === "string" ? factor.phone : "",
    }))
    .sort((a, b) => b.type.localeCompare(a.type));
}
