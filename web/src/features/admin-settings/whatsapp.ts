import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type CountryCode,
} from "libphonenumber-js/min";
import type { Language } from "@/lib/boot";

// Parses and formats the WhatsApp number in the settings form, and matches the number with the country that is chosen beside it. A
// country is an ISO 3166 code such as PT, or "" if no country is chosen.

/** A country with its ISO 3166 code, its name in the language of the page, and its calling code. */
export type Country = { code: CountryCode; name: string; callingCode: string };

const LANGUAGE_TAGS: Record<Language, string> = { en: "en-GB", pt: "pt-PT" };

/** All countries with their calling codes and their names in the language, sorted by name. */
export function countriesIn(language: Language): Country[] {
  const names = new Intl.DisplayNames(LANGUAGE_TAGS[language], { type: "region" });
  const { compare } = new Intl.Collator(LANGUAGE_TAGS[language]);
  return getCountries()
    .map((code) => ({
      code,
      name: names.of(code) ?? code,
      callingCode: `+${getCountryCallingCode(code)}`,
    }))
    .sort((a, b) => compare(a.name, b.name));
}

/** Returns the country if the library knows it, or undefined if not. */
const supportedCountry = (country: string) => (isSupportedCountry(country) ? country : undefined);

/**
 * Parses a phone number. A number that begins with + contains the code of its country. Any other number belongs to `country`. Returns
 * undefined if the value is not a number.
 */
function parseNumber(value: string, country: string) {
  // A value with letters is not passed on: the library would read them as keys of a telephone or as an extension.
  const text = value.trim();
  if (!/^\+?[\d ().-]+$/.test(text)) return undefined;
  return parsePhoneNumberFromString(text, {
    defaultCountry: supportedCountry(country),
    extract: false,
  });
}

/** Converts a number to its E.164 form such as +351912345678. Returns undefined if the number is not valid. */
export function toE164(value: string, country: string): string | undefined {
  const number = parseNumber(value, country);
  return number?.isValid() ? number.number : undefined;
}

/** Formats a valid number as "+351 912 345 678". Returns other values unchanged. */
export function formatNumber(value: string, country: string): string {
  const number = parseNumber(value, country);
  return number?.isValid() ? number.formatInternational() : value;
}

/**
 * Returns the country to which the calling code of a number or wa.me URL belongs. Some countries share a calling code. If `chosen` is
 * one of these countries, returns `chosen`. Returns undefined for an incomplete number.
 */
export function countryOfNumber(value: string, chosen: string): CountryCode | undefined {
  const digits = /^https:\/\/wa\.me\/(\d+)\/?$/.exec(value.trim())?.[1];
  const number = parseNumber(digits ? `+${digits}` : value, "");
  if (!number) return undefined;
  const chosenCode = supportedCountry(chosen);
  if (chosenCode && getCountryCallingCode(chosenCode) === number.countryCallingCode)
    return chosenCode;
  return number.country ?? number.getPossibleCountries()[0];
}

/** Replaces the calling code of an international number by the country's. Returns other values unchanged. */
export function withCallingCode(country: string, value: string): string {
  const number = parseNumber(value, "");
  const newCountry = supportedCountry(country);
  return number && newCountry
    ? `+${getCountryCallingCode(newCountry)} ${number.nationalNumber}`
    : value;
}

/** Guesses the owner's country from the time zone and the regions of the browser's languages. Returns "" if unknown. */
export function guessCountry(languages: readonly string[], timeZone: string): CountryCode | "" {
  const spoken = languages
    .map((tag) => supportedCountry(regionOf(tag)))
    .filter((code) => code !== undefined);
  const near = getCountries().filter((code) => timeZonesOf(code).includes(timeZone));
  return spoken.find((code) => near.includes(code)) ?? near[0] ?? spoken[0] ?? "";
}

/** The region of a language tag such as pt-BR; "" if it has none. */
function regionOf(tag: string): string {
  try {
    return new Intl.Locale(tag).region ?? "";
  } catch {
    return ""; // not a valid language tag
  }
}

// Browsers offer the time zones of a country as a method, as a property, or not at all.
type WithZones = Intl.Locale & { getTimeZones?(): string[] | undefined; timeZones?: string[] };

/** The time zones of a country, as far as the browser knows them. */
function timeZonesOf(code: CountryCode): string[] {
  const locale = new Intl.Locale(`und-${code}`) as WithZones;
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}

/** The country that the browser's languages and time zone suggest. */
export function countryOfBrowser(): string {
  return guessCountry(navigator.languages, Intl.DateTimeFormat().resolvedOptions().timeZone);
}
