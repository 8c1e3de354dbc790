import { type Language } from "@/lib/boot";

// Written by hand: the server's renderer has no Intl, and both sides must print the same text.
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

type Day = { year: number; month: number; day: number };

/** Reads the date part as written: going through Date would shift it by the time zone. */
export function parseDay(text: string): Day | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})/.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 ? { year, month, day } : null;
}

/** "12 March 2024" or "12 de março de 2024". */
export function longDate(text: string, language: Language): string {
  const date = parseDay(text);
  if (!date) return text;
  const month = months[language][date.month - 1];
  return language === "en"
    ? `${date.day} ${month} ${date.year}`
    : `${date.day} de ${month} de ${date.year}`;
}
