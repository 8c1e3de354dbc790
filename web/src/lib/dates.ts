import { type Language } from "@/lib/boot";

// Formats dates in the texts of public pages. The functions do not use Intl, because the server's JavaScript engine lacks
// it, and server and browser must render the same text.

/** The names of the months as they appear within a date. */
export const months: Record<Language, string[]> = {
  en: [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
  ],
  pt: [
    "janeiro",
    "fevereiro",
    "março",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
  ],
};

/** A date without a time. `month` is from 1 to 12. */
type Day = { year: number; month: number; day: number };

/**
 * Parses the date (YYYY-MM-DD) at the start of a text. Returns null if there is no date. Does not use `Date`, which could shift the
 * day by the time zone.
 */
export function parseDay(text: string): Day | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})/.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 ? { year, month, day } : null;
}

/** Formats a date as "12 March 2024" or "12 de março de 2024". Returns a text without a date unchanged. */
export function longDate(text: string, language: Language): string {
  const date = parseDay(text);
  if (!date) return text;
  const month = months[language][date.month - 1];
  return language === "en"
    ? `${date.day} ${month} ${date.year}`
    : `${date.day} de ${month} de ${date.year}`;
}
