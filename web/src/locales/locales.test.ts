import { describe, expect, it } from "vitest";
import en from "@/locales/en.json";
import pt from "@/locales/pt.json";

const sources = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.{ts,tsx}"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const code = Object.values(sources).join("\n");
const keys = Object.keys(en);

const literals = new Set([...code.matchAll(/["'`]([a-z][\w]*(?:\.\w+)+)["'`]/g)].map((m) => m[1]!));
// Keys put together from data: `type.${artwork_type}` uses every key that starts with "type.".
const prefixes = [...code.matchAll(/`([a-z][\w]*\.(?:[\w.]*\.)?)\$\{/g)].map((m) => m[1]!);

describe("locales", () => {
  it("have the same keys in the same order", () => {
    expect(Object.keys(pt)).toEqual(keys);
  });

  it("have no empty text", () => {
    for (const texts of [en, pt]) {
      expect(Object.entries(texts).filter(([, text]) => text.trim() === "")).toEqual([]);
    }
  });

  it("use only placeholders that the other language knows too", () => {
    // English builds the plural as {kind}s, Portuguese needs its own word.
    const marks = (text: string) =>
      [...new Set(text.match(/\{\w+\}/g)?.map((m) => m.replace("{kinds}", "{kind}")))].sort();
    for (const key of keys as (keyof typeof en)[]) {
      expect(marks(pt[key]), key).toEqual(marks(en[key]));
    }
  });

  it("have no key that nothing uses", () => {
    const unused = keys.filter(
      (key) => !literals.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)),
    );
    expect(unused).toEqual([]);
  });

  it("miss no key that code asks for", () => {
    // The type of t() refuses unknown literals; this catches keys built from data.
    const missing = prefixes.filter((prefix) => !keys.some((key) => key.startsWith(prefix)));
    expect(missing).toEqual([]);
    const groups = new Set(keys.map((key) => key.split(".")[0]));
    const asked = [...code.matchAll(/\bt\(\s*["'`]([\w.]+)["'`]/g)].map((m) => m[1]!);
    expect(asked.filter((key) => groups.has(key.split(".")[0]) && !keys.includes(key))).toEqual([]);
  });
});
