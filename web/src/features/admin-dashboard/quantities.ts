import type { Language } from "@/lib/boot";

const locale = (language: Language) => (language === "pt" ? "pt-PT" : "en-GB");

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long before `now` a time was, as "3 hours ago"; null within the last minute, and for times after `now`. */
export function ago(iso: string, now: string, language: Language): string | null {
  const passed = Date.parse(now) - Date.parse(iso);
  const [size, unit] =
    passed < HOUR
      ? ([MINUTE, "minute"] as const)
      : passed < DAY
        ? ([HOUR, "hour"] as const)
        : ([DAY, "day"] as const);
  const count = Math.floor(passed / size);
  if (!(count >= 1)) return null;
  return new Intl.RelativeTimeFormat(locale(language)).format(-count, unit);
}

/** A number of bytes as "41 GB" or "850 MB": less than a megabyte is "0 MB". */
export function byteSize(bytes: number, language: Language): string {
  const [size, unit] = bytes >= 1e9 ? ([1e9, "gigabyte"] as const) : ([1e6, "megabyte"] as const);
  const count = bytes / size;
  return new Intl.NumberFormat(locale(language), {
    style: "unit",
    unit,
    maximumFractionDigits: unit === "gigabyte" && count < 10 ? 1 : 0,
  }).format(count);
}
