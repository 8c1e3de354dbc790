import type { AuthFailure } from "@/lib/auth";
import type { Translate } from "@/lib/i18n";
import type { Key } from "@/lib/texts";

// The service's codes that can be met on the sign-in page; of all others it shows the service's own words.
const known: Record<string, Key> = {
  invalid_credentials: "auth.error.credentials",
  email_not_confirmed: "auth.error.unconfirmed",
  user_banned: "auth.error.banned",
  over_request_rate_limit: "auth.error.tooMany",
  over_email_send_rate_limit: "auth.error.mailTooSoon",
  over_sms_send_rate_limit: "auth.error.textTooSoon",
  mfa_verification_failed: "auth.error.code",
  mfa_challenge_expired: "auth.error.codeExpired",
  mfa_factor_not_found: "auth.error.factorGone",
  mfa_ip_address_mismatch: "auth.error.network",
  mfa_phone_verify_not_enabled: "auth.error.noTexts",
  session_not_found: "auth.error.sessionOver",
  session_expired: "auth.error.sessionOver",
  session_missing: "auth.error.sessionOver",
  bad_jwt: "auth.error.sessionOver",
  otp_expired: "auth.error.linkExpired",
  same_password: "auth.error.samePassword",
  email_exists: "auth.error.emailTaken",
  email_address_invalid: "contact.error.email",
  reauthentication_needed: "auth.error.codeNeeded",
  reauthentication_not_valid: "auth.error.code",
  too_many_enrolled_mfa_factors: "auth.error.tooManyFactors",
  insufficient_aal: "auth.error.secondFactor",
  request_timeout: "auth.error.slow",
  offline: "auth.error.offline",
  unexpected_failure: "auth.unexpected",
};

const weak: Record<string, Key> = {
  length: "auth.weak.length",
  pwned: "auth.weak.pwned",
};

/** A refusal in the language of the page when it is a known one, else in the service's own words. */
export function failureText(t: Translate, { code, message, reasons }: AuthFailure): string {
  // The service names seconds and characters in its own sentence only.
  const n = /\d+/.exec(message)?.[0];
  const say = (key: Key | undefined) => {
    const text = key && t(key, n === undefined ? undefined : { n });
    return text?.includes("{n}") ? undefined : text;
  };
  if (code === "weak_password" && reasons) {
    const texts = reasons.map((reason) => say(weak[reason]));
    if (texts.length > 0 && texts.every(Boolean)) return texts.join(" ");
  }
  return say(known[code]) ?? (message || t("auth.unexpected"));
}
