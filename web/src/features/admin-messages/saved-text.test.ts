import { expect, it } from "vitest";
import { savedText } from "@/features/admin-messages/saved-text";

it("fills in the visitor's name, which is text whatever it contains", () => {
  const saved = { text_en: "Hello {name}, dear {name}!", text_pt: null };
  expect(savedText(saved, "en", "$& {name} <b>")).toBe("Hello $& {name} <b>, dear $& {name} <b>!");
});

it("takes the language of the message, or else the other one", () => {
  expect(savedText({ text_en: "Hello", text_pt: "Olá" }, "pt", "Rui")).toBe("Olá");
  expect(savedText({ text_en: "Hello", text_pt: "" }, "pt", "Rui")).toBe("Hello");
  expect(savedText({ text_en: null, text_pt: "Olá" }, "en", "Rui")).toBe("Olá");
  expect(savedText({ text_en: null, text_pt: null }, "en", "Rui")).toBe("");
});
