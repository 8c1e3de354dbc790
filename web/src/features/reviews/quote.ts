import type { Language } from "@/lib/boot";

const marks: Record<Language, [string, string]> = { en: ["“", "”"], pt: ["«", "»"] };
/** Marks around the whole text, with none inside: those belong to a quotation within it. */
const already = /^["“„«]([^"“”„«»]*)["”“»]$/;

/** The message in the quotation marks of the page's language; marks typed by the owner are replaced. */
export function quote(message: string, language: Language): string {
  const text = message.trim();
  const [open, close] = marks[language];
  return open + (already.exec(text)?.[1] ?? text) + close;
}
