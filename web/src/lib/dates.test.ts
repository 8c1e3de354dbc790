import { describe, expect, it } from "vitest";
import { longDate } from "@/lib/dates";
import { dateTime, ptDate, shortDate } from "@/lib/owner-dates";

describe("dates", () => {
  it("writes long dates in both languages", () => {
    expect(longDate("2024-03-12", "en")).toBe("12 March 2024");
    expect(longDate("2024-03-12", "pt")).toBe("12 de março de 2024");
    expect(longDate("2024-12-01", "en")).toBe("1 December 2024");
  });

  it("writes short dates in both languages", () => {
    expect(shortDate("2026-11-12", "en")).toBe("12 Nov 2026");
    expect(shortDate("2026-11-12", "pt")).toBe("12 nov. 2026");
    expect(shortDate("2026-05-02T23:59:00Z", "en")).toBe("2 May 2026");
  });

  it("never shifts a plain date by the time zone", () => {
    expect(longDate("2024-01-01", "en")).toBe("1 January 2024");
    expect(ptDate("2024-01-01")).toBe("01/01/2024");
  });

  it("writes the pt-PT form", () => {
    expect(ptDate("2026-11-21")).toBe("21/11/2026");
  });

  it("formats day and time in the time zone of the browser", () => {
    const local = new Date(2026, 10, 12, 9, 5).toISOString();
    expect(dateTime(local, "en")).toBe("12 November 2026, 09:05");
    expect(dateTime(local, "pt")).toBe("12 de novembro de 2026, 09:05");
  });

  it("returns texts without a date unchanged", () => {
    for (const text of ["", "soon", "2024-13-01"]) {
      expect(longDate(text, "en")).toBe(text);
      expect(shortDate(text, "pt")).toBe(text);
      expect(ptDate(text)).toBe(text);
    }
    expect(dateTime("soon", "en")).toBe("soon");
  });
});
