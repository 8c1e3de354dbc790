import type { Language } from "@/lib/boot";
import { longDate, months, parseDay } from "@/lib/dates";

// Formats dates for the admin area and the privacy page. These functions are not in lib/dates.ts, because visitors of all pages
// download that file. The functions that use the browser's time zone must not be used in pages that the server renders.

const twoDigits = (n: number) => String(n).padStart(2, "0");

/** Formats a date as "12 Nov 2026" in English, or as "12 nov. 2026" in Portuguese. */
export function shortDate(text: string, language: Language): string {
  const date = parseDay(text);
  if (!date) return text;
  const month = months[language][date.month - 1]!;
  const short = month.slice(0, 3);
  return language === "en"
    ? `${date.day} ${short} ${date.year}`
    : `${date.day} ${short}. ${date.year}`;
}

/** Returns the date of a timestamp in the browser's time zone, as YYYY-MM-DD. */
export function localDay(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
}

/** Formats a timestamp as "12 November 2026, 09:41" in the browser's time zone. */
export function dateTime(iso: string, language: Language): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${longDate(localDay(iso), language)}, ${clockTime(iso)}`;
}

/** Formats the time of a timestamp as "09:41" in the browser's time zone. */
export function clockTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime())
    ? iso
    : `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** Formats a timestamp as the value of a datetime-local input, such as "2026-11-12T09:41", in the browser's time zone. */
export const inputTime = (iso: string): string => `${localDay(iso)}T${clockTime(iso)}`;

/** The units of relativeTime and their lengths in milliseconds, the longest first. */
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** How long ago a timestamp was, such as "2 hours ago" or "há 2 horas". */
export function relativeTime(iso: string, language: Language, now = Date.now()): string {
  const age = Math.max(0, now - new Date(iso).getTime());
  const format = new Intl.RelativeTimeFormat(language === "pt" ? "pt-PT" : "en", {
    numeric: "auto",
  });
  for (const [unit, length] of UNITS)
    if (age >= length) return format.format(-Math.floor(age / length), unit);
  return format.format(0, "second");
}

/** Formats a date as in Portugal: "21/11/2026". */
export function ptDate(text: string): string {
  const date = parseDay(text);
  return date ? `${twoDigits(date.day)}/${twoDigits(date.month)}/${date.year}` : text;
}
