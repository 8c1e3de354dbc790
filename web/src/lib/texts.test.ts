import { beforeEach, expect, it, vi } from "vitest";
import type * as Texts from "@/lib/texts";

// A new module instance for each test: the global set-up loads all texts.
let texts: typeof Texts;
beforeEach(async () => {
  vi.resetModules();
  texts = await import("@/lib/texts");
});

it("has the texts of the loaded language and bundle, and detects missing ones", async () => {
  const { textOf, hasLanguage } = texts;
  await texts.loadLanguage("en");
  await texts.loadTexts("site");
  expect(textOf("en", "contact.title")).toBe("Get in Touch");
  expect(hasLanguage("en")).toBe(true);
  expect(hasLanguage("pt")).toBe(false);
  expect(() => textOf("pt", "contact.title")).toThrow("contact.title was not loaded");
  expect(() => textOf("en", "products.add")).toThrow("products.add was not loaded");
});

it("loads a bundle in every language in use, and a language for every bundle in use", async () => {
  const { textOf } = texts;
  await Promise.all([texts.loadTexts("site"), texts.loadLanguage("en")]);
  await texts.loadLanguage("pt");
  await texts.loadTexts("admin");
  expect(texts.hasLanguage("pt")).toBe(true);
  expect(textOf("en", "products.add")).toBe("Add Product");
  expect(textOf("pt", "products.add")).not.toBe("Add Product");
});
