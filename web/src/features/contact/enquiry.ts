import type { ContactReason } from "@/lib/types";

/** The work a visitor asks about, and the reason that the page names for it (READING §3.1). */
export type Enquiry = { title: string; reason: ContactReason };

/** Puts the line that names the work before what the visitor has written, once. */
export function withWorkNamed(message: string, line: string, earlierLine = ""): string {
  const written =
    earlierLine && message.startsWith(earlierLine) ? message.slice(earlierLine.length) : message;
  return written.startsWith(line.trimEnd()) ? written : line + written;
}

/** The reason holds as long as the message is about the work: a visitor may delete it and write anew. */
export function reasonFor(message: string, enquiry: Enquiry | null): ContactReason | "" {
  return enquiry && message.includes(enquiry.title) ? enquiry.reason : "";
}
