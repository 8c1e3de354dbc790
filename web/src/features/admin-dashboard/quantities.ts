import type { Language } from "@/lib/boot";

// This file formats the times and sizes on the overview of the admin area, where the health of the site is shown (whether its
// backups, disk, mails and certificate are in order).

/** The locale whose rules for numbers and times are used. */
const localeOf = (language: Language) => (language === "pt" ? "pt-PT" : "en-GB");

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Formats the time from `iso` to `now` as "3 hours ago". Both are in ISO 8601. Returns null if the time is less than a minute.
 */
export function formatAgo(iso: string, now: string, language: Language): string | null {
  const age = Date.parse(now) - Date.parse(iso);
  // The largest unit that is not longer than the age.
  const [size, unit] =
    age < HOUR
      ? ([MINUTE, "minute"] as const)
      : age < DAY
        ? ([HOUR, "hour"] as const)
        : ([DAY, "day"] as const);
  const count = Math.floor(age / size);
  if (!(count >= 1)) return null; // also for an invalid time, whose count is NaN
  return new Intl.RelativeTimeFormat(localeOf(language)).format(-count, unit);
}

/** Formats a number of bytes as "41 GB" or "850 MB", in units of 1000. */
export function formatBytes(bytes: number, language: Language): string {
  const [size, unit] = bytes >= 1e9 ? ([1e9, "gigabyte"] as const) : ([1e6, "megabyte"] as const);
  const count = bytes / size;
  return new Intl.NumberFormat(localeOf(language), {
    style: "unit",
    unit,
    maximumFractionDigits: unit === "gigabyte" && count < 10 ? 1 : 0,
  }).format(count);
}
