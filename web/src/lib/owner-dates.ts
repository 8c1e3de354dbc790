import type { Language } from "@/lib/boot";
import { longDate, months, parseDay } from "@/lib/dates";

// Formats dates for the admin area and the privacy page. Not in lib/dates, because visitors of all pages download that
// file.

const twoDigits = (n: number) => String(n).padStart(2, "0");

/** Formats a date as "12 Nov 2026" or "12 nov. 2026": Portuguese abbreviations end in a full stop. */
export function shortDate(text: string, language: Language): string {
  const date = parseDay(text);
  if (!date) return text;
  const month = months[language][date.month - 1]!;
  const short = month.slice(0, 3);
  return language === "en"
    ? `${date.day} ${short} ${date.year}`
    : `${date.day} ${short}. ${date.year}`;
}

/** The date of a timestamp in the browser's time zone, as YYYY-MM-DD; not for server rendering. */
export function localDay(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
}

/** Formats a timestamp as "12 November 2026, 09:41" in the browser's time zone; not for server rendering. */
export function dateTime(iso: string, language: Language): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${longDate(localDay(iso), language)}, ${clockTime(iso)}`;
}

/** Formats the time of a timestamp as "09:41" in the browser's time zone; not for server rendering. */
export function clockTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime())
    ? iso
    : `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** A timestamp as the value of a datetime-local input: in the browser's time zone, without seconds. */
export const inputTime = (iso: string): string => `${localDay(iso)}T${clockTime(iso)}`;

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
