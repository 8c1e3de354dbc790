import { beforeEach, expect, it, vi } from "vitest";
import type * as Texts from "@/lib/texts";

// A fresh copy for each test: the set-up of all tests loads every text.
let texts: typeof Texts;
beforeEach(async () => {
  vi.resetModules();
  texts = await import("@/lib/texts");
});

it("has the texts of one language and one part, and says when another is missing", async () => {
  const { textOf, hasLanguage } = texts;
  await texts.loadLanguage("en");
  await texts.loadTexts("site");
  expect(textOf("en", "contact.title")).toBe("Get in Touch");
  expect(hasLanguage("en")).toBe(true);
  expect(hasLanguage("pt")).toBe(false);
  expect(() => textOf("pt", "contact.title")).toThrow("contact.title was not loaded");
  expect(() => textOf("en", "products.add")).toThrow("products.add was not loaded");
});

it("adds a part in every language, and a language in every part", async () => {
  const { textOf } = texts;
  await Promise.all([texts.loadTexts("site"), texts.loadLanguage("en")]);
  await texts.loadLanguage("pt");
  await texts.loadTexts("admin");
  expect(texts.hasLanguage("pt")).toBe(true);
  expect(textOf("en", "products.add")).toBe("Add Product");
  expect(textOf("pt", "products.add")).not.toBe("Add Product");
});
