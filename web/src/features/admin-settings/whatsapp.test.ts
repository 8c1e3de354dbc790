import { expect, it, vi } from "vitest";
import {
  countriesIn,
  countryOfNumber,
  guessCountry,
  withCallingCode,
  formatNumber,
} from "@/features/admin-settings/whatsapp";

it("names every country in the language of the page, sorted in that language", () => {
  const [en, pt] = [countriesIn("en"), countriesIn("pt")];
  expect(en).toHaveLength(pt.length);
  expect(en.find(({ code }) => code === "DE")).toEqual({
    code: "DE",
    name: "Germany",
    callingCode: "+49",
  });
  expect(pt.find(({ code }) => code === "DE")?.name).toBe("Alemanha");
  for (const { code, name } of [...en, ...pt]) expect(name).not.toBe(code);
  // Sorted by code points "Áustria" would come last.
  const place = (code: string) => pt.findIndex((country) => country.code === code);
  expect(place("DE")).toBeLessThan(place("AT"));
  expect(place("AT")).toBeLessThan(place("BE"));
});

it("detects the country of a pasted number, and keeps the chosen one if it shares the calling code", () => {
  expect(countryOfNumber("+55 11 96123-4567", "PT")).toBe("BR");
  expect(countryOfNumber(" +351 912", "BR")).toBe("PT");
  expect(countryOfNumber("https://wa.me/4915112345678", "PT")).toBe("DE");
  expect(countryOfNumber("+1 416 555 0123", "")).toBe("CA");
  expect(countryOfNumber("+1 416 555 0123", "US")).toBe("US");
  for (const silent of ["", "+", "912 345 678", "https://wa.me/message/ABC", "call me"])
    expect(countryOfNumber(silent, "PT")).toBeUndefined();
});

it("formats numbers with spaces, and replaces the calling code when another country is chosen", () => {
  expect(formatNumber("912345678", "PT")).toBe("+351 912 345 678");
  expect(formatNumber("+351912345678", "BR")).toBe("+351 912 345 678");
  expect(formatNumber("12", "PT")).toBe("12");
  expect(formatNumber("https://wa.me/351912345678", "PT")).toBe("https://wa.me/351912345678");
  expect(withCallingCode("BR", "+351 912 345 678")).toBe("+55 912345678");
  expect(withCallingCode("BR", "912 345 678")).toBe("912 345 678");
  expect(withCallingCode("", "+351 912 345 678")).toBe("+351 912 345 678");
});

it("guesses the country by the time zone, then by the languages", () => {
  // The method of browsers; Node has a property, or neither.
  const zones: Record<string, string[]> = {
    "und-PT": ["Atlantic/Azores", "Europe/Lisbon"],
    "und-DE": ["Europe/Berlin"],
    "und-AT": ["Europe/Vienna", "Europe/Berlin"],
  };
  const locale = Intl.Locale.prototype as { getTimeZones?(this: Intl.Locale): string[] };
  const getTimeZones = vi.fn(function (this: Intl.Locale) {
    return zones[this.toString()] ?? [];
  });
  const before = locale.getTimeZones;
  locale.getTimeZones = getTimeZones;
  try {
    expect(guessCountry(["en-US", "en"], "Europe/Lisbon")).toBe("PT");
    expect(guessCountry(["en", "de-DE"], "Europe/Berlin")).toBe("DE");
    expect(guessCountry(["pt-BR"], "UTC")).toBe("BR");
    expect(guessCountry(["pt", "*"], "UTC")).toBe("");
  } finally {
    if (before) locale.getTimeZones = before;
    else delete locale.getTimeZones;
  }
});
