import { type Language } from "@/lib/boot";

// Written by hand: the server's renderer has no Intl, and both sides must print the same text.
const months: Record<Language, string[]> = {
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
function parseDay(text: string): Day | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})/.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 ? { year, month, day } : null;
}

const two = (n: number) => String(n).padStart(2, "0");

/** "12 March 2024" or "12 de março de 2024". */
export function longDate(text: string, language: Language): string {
  const date = parseDay(text);
  if (!date) return text;
  const month = months[language][date.month - 1];
  return language === "en"
    ? `${date.day} ${month} ${date.year}`
    : `${date.day} de ${month} de ${date.year}`;
}

/** "12 Nov 2026" or "12 nov. 2026"; Portuguese abbreviates with a full stop. */
export function shortDate(text: string, language: Language): string {
  const date = parseDay(text);
  if (!date) return text;
  const month = months[language][date.month - 1]!;
  const short = month.slice(0, 3);
  return language === "en"
    ? `${date.day} ${short} ${date.year}`
    : `${date.day} ${short}. ${date.year}`;
}

/** The day of a moment in the browser's zone, as YYYY-MM-DD; only after mount, the server has no such zone. */
export function localDay(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** "12 November 2026, 09:41" in the browser's zone; only after mount, like localDay. */
export function dateTime(iso: string, language: Language): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return `${longDate(localDay(iso), language)}, ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** "21/11/2026", the pt-PT form. */
export function ptDate(text: string): string {
  const date = parseDay(text);
  return date ? `${two(date.day)}/${two(date.month)}/${date.year}` : text;
}
