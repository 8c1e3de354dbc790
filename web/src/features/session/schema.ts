import * as z from "zod/mini";
import type { Key } from "@/lib/texts";

// zod otherwise tries `new Function`, which the site's content security policy reports.
z.config({ jitless: true });

// Issues carry catalogue keys, so that an error on screen changes language with the page.
const required = (error: Key) => z.minLength(1, { error });

export const signInSchema = z.object({
  email: z.string().check(z.trim(), required("auth.emailRequired")),
  password: z.string().check(required("auth.passwordRequired")),
});

const email = z.string().check(z.trim(), z.email({ error: "contact.error.email" satisfies Key }));
// How long it must be is a setting of the server's, which says so.
const newPassword = z.string().check(required("auth.newPassword.required"));

export const setUpSchema = z.object({ email, password: newPassword });
export const newPasswordSchema = z.object({ password: newPassword });
export const forgottenSchema = z.object({ email });
export const emailSchema = z.object({ email });
/** The code is asked for only where the service wants one. */
export const changePasswordSchema = z.object({
  password: newPassword,
  code: z.string().check(z.trim()),
});

const blanks = /[\s-]+/g;

/** People type and paste "123 456". */
export const factorCodeSchema = z.object({
  code: z.string().check(
    z.overwrite((typed) => typed.replace(blanks, "")),
    z.regex(/^\d{6}$/, { error: "auth.factor.codeInvalid" satisfies Key }),
  ),
});
export const recoveryCodeSchema = z.object({
  code: z.string().check(z.trim(), required("auth.factor.recoveryRequired")),
});

export type Credentials = z.output<typeof signInSchema>;
export type Forgotten = z.output<typeof forgottenSchema>;
export type NewPassword = z.output<typeof newPasswordSchema>;
export type ChangePassword = z.output<typeof changePasswordSchema>;
export type Code = z.output<typeof factorCodeSchema>;
