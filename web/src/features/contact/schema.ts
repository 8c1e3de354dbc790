import * as z from "zod/mini";
import {
  CONTACT_EMAIL_MAX,
  CONTACT_MESSAGE_MAX,
  CONTACT_MESSAGE_MIN,
  CONTACT_NAME_MAX,
  CONTACT_NAME_MIN,
} from "@/lib/constants";
import type { TextKey } from "@/lib/texts";

// Without this setting zod calls `new Function`, which the content security policy forbids.
z.config({ jitless: true });

/** The length of a text in code points, in which the server counts too. */
const codePoints = (text: string) => Array.from(text).length;

// Error messages are text keys, so that a shown error changes with the language of the page.
const atLeast = (min: number, error: TextKey) =>
  z.refine<string>((text) => codePoints(text) >= min, { error });
const atMost = (max: number, error: TextKey) =>
  z.refine<string>((text) => codePoints(text) <= max, { error });

/** Validates the contact form by the rules of the server. */
export const contactSchema = z.object({
  name: z
    .string()
    .check(
      z.trim(),
      atLeast(CONTACT_NAME_MIN, "contact.error.name"),
      atMost(CONTACT_NAME_MAX, "contact.error.nameLong"),
    ),
  email: z
    .string()
    .check(
      z.trim(),
      z.email({ error: "contact.error.email" satisfies TextKey }),
      atMost(CONTACT_EMAIL_MAX, "contact.error.email"),
    ),
  message: z
    .string()
    .check(
      z.trim(),
      atLeast(CONTACT_MESSAGE_MIN, "contact.error.message"),
      atMost(CONTACT_MESSAGE_MAX, "contact.error.messageLong"),
    ),
  /**
   * The honeypot field, a trap for programs that send spam: visitors do not see the field and leave it empty. For an enquiry, the
   * page itself sets it to the reason of the message, but only when it sends the form.
   */
  reason: z.string(),
});

/** The values of the contact form. */
export type ContactValues = z.output<typeof contactSchema>;
