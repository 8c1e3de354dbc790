import type { Language } from "@/lib/boot";
import { longDate, months, parseDay } from "@/lib/dates";

// Apart from the long form, which visitors need at once.
const two = (n: number) => String(n).padStart(2, "0");

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
