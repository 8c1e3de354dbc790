import type { ContactReason, Product } from "@/lib/types";

/** An enquiry: the work that a visitor asks about with the contact form. Its title is in the language of the page. */
export type Enquiry = Product;

/**
 * Puts `line`, a line that names the work, at the start of the message. It replaces `earlierLine`, the line of an earlier enquiry
 * ("" if there was none). A text that already begins with the line gets no second one.
 */
export function withArtworkLine(message: string, line: string, earlierLine: string): string {
  const visitorText = withoutArtworkLine(message, earlierLine);
  return visitorText.startsWith(line.trimEnd()) ? visitorText : line + visitorText;
}

/** Removes the line of an enquiry from the start of the message. */
export function withoutArtworkLine(message: string, line: string): string {
  return line && message.startsWith(line) ? message.slice(line.length) : message;
}

/**
 * The reason of the message (docs/product.md, rule 13): "commission" for a customizable work, "purchase" for any other work. It is
 * "" without an enquiry, or if the visitor has removed the title of the work from the message.
 */
export function reasonFor(message: string, enquiry: Enquiry | null): ContactReason | "" {
  if (!enquiry || !message.includes(enquiry.title.trim())) return "";
  return enquiry.is_customizable ? "commission" : "purchase";
}
