import type { Language } from "@/lib/boot";
import type adminTexts from "@/locales/admin/en.json";
import type siteTexts from "@/locales/en.json";
import type workTexts from "@/locales/work/en.json";
import type privacyTexts from "@/locales/privacy.json";

export type Key =
  | keyof typeof siteTexts
  | keyof typeof adminTexts
  | keyof typeof privacyTexts
  | keyof typeof workTexts;
export type TextPart = "site" | "admin" | "privacy";
type Texts = Partial<Record<Key, string>>;

// Each file is a download of its own: a visitor gets one language, and no word of the admin area.
const files: Record<TextPart, Record<Language, () => Promise<{ default: Texts }>>> = {
  site: { en: () => import("@/locales/en.json"), pt: () => import("@/locales/pt.json") },
  admin: {
    en: () => import("@/locales/admin/en.json"),
    pt: () => import("@/locales/admin/pt.json"),
  },
  // Portuguese in both languages (specification §1).
  privacy: {
    en: () => import("@/locales/privacy.json"),
    pt: () => import("@/locales/privacy.json"),
  },
};

const parts = new Set<TextPart>();
const languages = new Set<Language>();
const texts: Record<Language, Texts> = { en: {}, pt: {} };
const arrived = new Set<string>();

async function load(part: TextPart, language: Language): Promise<void> {
  const name = `${part}/${language}`;
  if (arrived.has(name)) return;
  const file = await files[part][language]();
  Object.assign(texts[language], file.default);
  arrived.add(name);
}

async function loadWanted(): Promise<void> {
  await Promise.all([...parts].flatMap((part) => [...languages].map((one) => load(part, one))));
}

/** Adds the few texts that a part of the site brings along itself, in both languages. */
export function addTexts(own: Record<Language, Texts>): void {
  Object.assign(texts.en, own.en);
  Object.assign(texts.pt, own.pt);
}

/** Adds a part in every language that is in use. */
export function loadTexts(part: TextPart): Promise<void> {
  parts.add(part);
  return loadWanted();
}

/** Adds a language in every part that is in use. */
export function loadLanguage(language: Language): Promise<void> {
  languages.add(language);
  return loadWanted();
}

/** Whether a page can change to this language at once. */
export function hasLanguage(language: Language): boolean {
  return [...parts].every((part) => arrived.has(`${part}/${language}`));
}

/** The text under a key; its part must have been loaded, which locales.test.ts proves for every page. */
export function textOf(language: Language, key: Key): string {
  const text = texts[language][key];
  if (text === undefined) throw new Error(`The text ${key} was not loaded`);
  return text;
}
