import type { Language } from "@/lib/boot";

/** The opening and closing quotation marks of each language. */
const marks: Record<Language, [string, string]> = { en: ["“", "”"], pt: ["«", "»"] };
/** Matches a text that is enclosed in quotation marks and contains no others. */
const quoted = /^["“„«]([^"“”„«»]*)["”“»]$/;

/** Puts a message into the quotation marks of the language. They replace quotation marks that the owner has typed around the message. */
export function addQuotationMarks(message: string, language: Language): string {
  const text = message.trim();
  const [open, close] = marks[language];
  return open + (quoted.exec(text)?.[1] ?? text) + close;
}
