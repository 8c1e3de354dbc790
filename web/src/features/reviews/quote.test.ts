import { expect, test } from "vitest";
import { addQuotationMarks } from "@/features/reviews/quote";

test.each([
  ["Clear dates.", "“Clear dates.”", "«Clear dates.»"],
  ["  Clear dates.\n", "“Clear dates.”", "«Clear dates.»"],
  ["“Clear dates.”", "“Clear dates.”", "«Clear dates.»"],
  ['"Two\nlines"', "“Two\nlines”", "«Two\nlines»"],
  ["“Sol” and “Mar”", "““Sol” and “Mar””", "«“Sol” and “Mar”»"],
])("%j", (message, en, pt) => {
  expect(addQuotationMarks(message, "en")).toBe(en);
  expect(addQuotationMarks(message, "pt")).toBe(pt);
});
