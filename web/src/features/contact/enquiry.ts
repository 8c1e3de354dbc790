import type { ContactReason } from "@/lib/types";

/**
 * An enquiry: the work that a visitor asks about with the contact form. `title` is the work's title, `reason` the contact
 * reason of the message (docs/product.md, rule 13).
 */
export type Enquiry = { title: string; reason: ContactReason };

/** Adds the line that names the work at the start of the message. Replaces the line of an earlier enquiry. */
export function withArtworkLine(message: string, line: string, earlierLine = ""): string {
  const visitorText =
    earlierLine && message.startsWith(earlierLine) ? message.slice(earlierLine.length) : message;
  return visitorText.startsWith(line.trimEnd()) ? visitorText : line + visitorText;
}

/**
 * The contact reason of a message: that of the enquiry, or "" if the visitor has removed the work's title from the message.
 */
export function reasonFor(message: string, enquiry: Enquiry | null): ContactReason | "" {
  return enquiry && message.includes(enquiry.title) ? enquiry.reason : "";
}
