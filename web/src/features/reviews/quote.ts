import type { Language } from "@/lib/boot";

/** Opening and closing quotation marks. */
const marks: Record<Language, [string, string]> = { en: ["“", "”"], pt: ["«", "»"] };
/** Matches a text in quotation marks that contains no others. */
const quoted = /^["“„«]([^"“”„«»]*)["”“»]$/;

/** Puts a message into the quotation marks of the language, instead of those that the owner typed around it, if any. */
export function addQuotationMarks(message: string, language: Language): string {
  const text = message.trim();
  const [open, close] = marks[language];
  return open + (quoted.exec(text)?.[1] ?? text) + close;
}
