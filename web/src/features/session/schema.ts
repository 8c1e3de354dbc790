import * as z from "zod/mini";
import { PASSWORD_MIN } from "@/lib/constants";
import type { Key } from "@/lib/texts";

// zod otherwise tries `new Function`, which the site's content security policy reports.
z.config({ jitless: true });

// Issues carry catalogue keys, so that an error on screen changes language with the page.
const required = (error: Key) => z.minLength(1, { error });

export const signInSchema = z.object({
  email: z.string().check(z.trim(), required("auth.emailRequired")),
  password: z.string().check(required("auth.passwordRequired")),
});

export const setUpSchema = z.object({
  email: z.string().check(z.trim(), z.email({ error: "contact.error.email" satisfies Key })),
  password: z
    .string()
    .check(z.minLength(PASSWORD_MIN, { error: "auth.setup.passwordShort" satisfies Key })),
});

export type Credentials = z.output<typeof signInSchema>;
