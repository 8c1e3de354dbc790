import * as z from "zod/mini";
import type { TextKey } from "@/lib/texts";

// The schemas that validate the forms of the sign-in page and the account page.

// Without this setting zod calls `new Function`, which the content security policy forbids.
z.config({ jitless: true });

// Error messages are text keys, so that a shown error changes with the language of the page.
const required = (error: TextKey) => z.minLength(1, { error });

/** Validates the sign-in form. */
export const signInSchema = z.object({
  email: z.string().check(z.trim(), required("auth.emailRequired")),
  password: z.string().check(required("auth.passwordRequired")),
});

const email = z
  .string()
  .check(z.trim(), z.email({ error: "contact.error.email" satisfies TextKey }));
// Only the server checks the length of a new password, because whoever runs the server sets the minimum.
const newPassword = z.string().check(required("auth.newPassword.required"));

/** Validates the form of a set-up link, which creates the owner's account. */
export const setUpSchema = z.object({ email, password: newPassword });
/** Validates the form that sets a new password. */
export const newPasswordSchema = z.object({ password: newPassword });
/** Validates the forms that ask only for an email address. */
export const emailSchema = z.object({ email });

/** Validates the form of a second factor: a code of six digits. Blanks and hyphens in the typed text are removed. */
export const factorCodeSchema = z.object({
  code: z.string().check(
    z.overwrite((typed) => typed.replace(/[\s-]+/g, "")),
    z.regex(/^\d{6}$/, { error: "auth.factor.codeInvalid" satisfies TextKey }),
  ),
});
// currentPasswordSchema and mailedCodeSchema validate the reauthentication form, which shows either the field of the password or
// the field of the mailed code. The hidden field is not checked.
const unchecked = z.string();
export const currentPasswordSchema = z.object({
  password: z.string().check(required("auth.passwordRequired")),
  code: unchecked,
});
export const mailedCodeSchema = z.object({
  password: unchecked,
  code: factorCodeSchema.shape.code,
});
/** Validates the form of a recovery code. */
export const recoveryCodeSchema = z.object({
  code: z.string().check(z.trim(), required("auth.factor.recoveryRequired")),
});

/** An email address and a password. */
export type Credentials = z.output<typeof signInSchema>;
/** The values of emailSchema. */
export type EmailValues = z.output<typeof emailSchema>;
/** The values of newPasswordSchema. */
export type NewPasswordValues = z.output<typeof newPasswordSchema>;
/** The values of the reauthentication form: the password and the mailed code, one of them empty. */
export type ReauthenticationValues = z.output<typeof currentPasswordSchema>;
/** The values of the forms that ask only for a code. */
export type CodeValues = z.output<typeof factorCodeSchema>;
