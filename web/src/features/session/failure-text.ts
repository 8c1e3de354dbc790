import type { AuthFailure } from "@/lib/auth";
import type { Translate } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/**
 * The text keys of error codes. All codes are the auth service's, except session_missing and offline, which this site uses if the
 * browser has no session or the server does not respond. For other codes the message of the service is shown.
 */
const codeKeys: Record<string, TextKey> = {
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
  current_password_mismatch: "auth.error.currentPassword",
  reauthentication_needed: "auth.error.confirmNeeded",
  reauthentication_not_valid: "auth.error.code",
  too_many_enrolled_mfa_factors: "auth.error.tooManyFactors",
  insufficient_aal: "auth.error.secondFactor",
  request_timeout: "auth.error.slow",
  offline: "auth.error.offline",
  unexpected_failure: "auth.unexpected",
};

/** The text keys of the reasons why the auth service rejects a password as weak. `pwned`: known from breaches, or easy to guess. */
const weakKeys: Record<string, TextKey> = {
  length: "auth.weak.length",
  pwned: "auth.weak.pwned",
};

/** The text of a failure in the language of the page, or the server's message for an unknown code. */
export function failureText(t: Translate, { code, message, reasons }: AuthFailure): string {
  // The number of seconds or characters is only in the server's message. If the message has no number, texts with the placeholder {n}
  // are not used.
  const n = /\d+/.exec(message)?.[0];
  const textFor = (key: TextKey | undefined) => {
    const text = key && t(key, n === undefined ? undefined : { n });
    return text?.includes("{n}") ? undefined : text;
  };
  if (code === "weak_password" && reasons) {
    const texts = reasons.map((reason) => textFor(weakKeys[reason]));
    if (texts.length > 0 && texts.every(Boolean)) return texts.join(" ");
  }
  return textFor(codeKeys[code]) ?? (message || t("auth.unexpected"));
}
