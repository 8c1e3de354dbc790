import * as z from "zod/mini";
import {
  CONTACT_EMAIL_MAX,
  CONTACT_MESSAGE_MAX,
  CONTACT_MESSAGE_MIN,
  CONTACT_NAME_MAX,
  CONTACT_NAME_MIN,
} from "@/lib/constants";
import type { Key } from "@/lib/texts";

// zod otherwise tries `new Function`, which the site's content security policy reports.
z.config({ jitless: true });

/** Texts count by code point, as on the server: an emoji or a rare letter is one character. */
const length = (text: string) => Array.from(text).length;

// Issues carry catalogue keys, so that an error on screen changes language with the page.
const atLeast = (min: number, error: Key) =>
  z.refine<string>((text) => length(text) >= min, { error });
const atMost = (max: number, error: Key) =>
  z.refine<string>((text) => length(text) <= max, { error });

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
      z.email({ error: "contact.error.email" satisfies Key }),
      atMost(CONTACT_EMAIL_MAX, "contact.error.email"),
    ),
  message: z
    .string()
    .check(
      z.trim(),
      atLeast(CONTACT_MESSAGE_MIN, "contact.error.message"),
      atMost(CONTACT_MESSAGE_MAX, "contact.error.messageLong"),
    ),
  /** Empty from people; the page may name a reason, and only machines fill the hidden field. */
  reason: z.string(),
});

export type ContactValues = z.output<typeof contactSchema>;
