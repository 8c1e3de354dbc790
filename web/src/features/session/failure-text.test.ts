import { AuthRetryableFetchError, AuthWeakPasswordError } from "@supabase/supabase-js";
import { expect, it } from "vitest";
import { failureOf } from "@/features/session/failure";
import { failureText } from "@/features/session/failure-text";
import { translator } from "@/lib/i18n";

const pt = translator("pt");
const en = translator("en");

it("A-log-alert: translates known codes into the language of the page", () => {
  const failure = failureOf({ code: "invalid_credentials", message: "Invalid login credentials" });
  expect(failureText(en, failure)).toBe("Invalid login credentials");
  expect(failureText(pt, failure)).toBe("O e-mail ou a senha não estão certos.");
});

it.each([
  ["email_not_confirmed", "auth.error.unconfirmed"],
  ["user_banned", "auth.error.banned"],
  ["over_request_rate_limit", "auth.error.tooMany"],
  ["over_email_send_rate_limit", "auth.error.mailTooSoon"],
  ["over_sms_send_rate_limit", "auth.error.textTooSoon"],
  ["mfa_verification_failed", "auth.error.code"],
  ["mfa_challenge_expired", "auth.error.codeExpired"],
  ["mfa_factor_not_found", "auth.error.factorGone"],
  ["mfa_ip_address_mismatch", "auth.error.network"],
  ["mfa_phone_verify_not_enabled", "auth.error.noTexts"],
  ["session_not_found", "auth.error.sessionOver"],
  ["reauthentication_needed", "auth.error.confirmNeeded"],
  ["too_many_enrolled_mfa_factors", "auth.error.tooManyFactors"],
  ["insufficient_aal", "auth.error.secondFactor"],
  ["request_timeout", "auth.error.slow"],
] as const)("has a text for %s in both languages", (code, key) => {
  const failure = failureOf({ code, message: "After 42 seconds" });
  for (const t of [en, pt]) expect(failureText(t, failure)).toBe(t(key, { n: 42 }));
});

it("A-log-alert: shows the server's message for an unknown code", () => {
  expect(failureText(pt, { code: "brand_new", message: "As the service says" })).toBe(
    "As the service says",
  );
  expect(failureText(pt, { code: "brand_new", message: "" })).toBe("Ocorreu um erro inesperado");
});

it("takes the number of seconds from the server's message, or shows that message if it has none", () => {
  const code = "over_email_send_rate_limit";
  const message = "For security purposes, you can only request this after 42 seconds.";
  expect(failureText(en, { code, message })).toContain("in 42 seconds");
  expect(failureText(en, { code, message: "Later, please" })).toBe("Later, please");
});

it("names every reason why a password is weak, or shows the server's message", () => {
  const message = "Password should be at least 10 characters. Password is known to be weak.";
  const weak = failureOf(new AuthWeakPasswordError(message, 422, ["length", "pwned"]));
  expect(failureText(pt, weak)).toBe(
    "Use pelo menos 10 caracteres. Esta senha é muito conhecida e fácil de adivinhar. Escolha outra.",
  );
  const other = failureOf(new AuthWeakPasswordError(message, 422, ["length", "characters"]));
  expect(failureText(pt, other)).toBe(message);
});

it("distinguishes a lost connection from an error response", () => {
  for (const error of [
    new TypeError("Failed to fetch"),
    new AuthRetryableFetchError("Failed to fetch", 0),
  ]) {
    expect(failureText(en, failureOf(error))).toContain("Check the connection");
  }
  const gateway = failureOf(new AuthRetryableFetchError("Bad gateway", 502));
  expect(failureText(en, gateway)).toBe("Bad gateway");
});
