import { expect, test } from "vitest";
import { localText, rowText } from "@/lib/local-text";

test("S9-texts: returns the text in the language, else the other one with its language", () => {
  expect(localText("en", "Sea", "Mar")).toEqual({ text: "Sea" });
  expect(localText("pt", "Sea", "Mar")).toEqual({ text: "Mar" });
  expect(localText("pt", " Sea ", " ")).toEqual({ text: "Sea", lang: "en" });
  expect(localText("en", null, "Mar")).toEqual({ text: "Mar", lang: "pt" });
  expect(localText("pt", undefined, null)).toEqual({ text: "" });
});

test("of several texts, the first one in the language comes before all texts in the other one", () => {
  expect(localText("pt", "SEO", "", "Sea", "Mar")).toEqual({ text: "Mar" });
  expect(localText("pt", "SEO", "", "Sea", "")).toEqual({ text: "SEO", lang: "en" });
});

test("S9-texts: marks columns only of rows with some text in Portuguese", () => {
  const row = { title: "Sea", title_pt: "", message: "Calm", message_pt: "" };
  const translated = { ...row, message_pt: "Calmo" };
  expect(rowText("pt", row, "title")).toEqual({ text: "Sea" });
  expect(rowText("pt", translated, "title")).toEqual({ text: "Sea", lang: "en" });
  expect(rowText("pt", translated, "title", "message")).toEqual({ text: "Calmo" });
  expect(rowText("en", { title: "", title_pt: "Mar" }, "title")).toEqual({
    text: "Mar",
    lang: "pt",
  });
});
