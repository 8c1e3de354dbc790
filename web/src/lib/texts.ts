import type { Language } from "@/lib/boot";
import type adminTexts from "@/locales/admin/en.json";
import type siteTexts from "@/locales/en.json";
import type galleryTexts from "@/locales/gallery/en.json";
import type seriesTexts from "@/locales/series/en.json";
import type sessionTexts from "@/locales/session/en.json";
import type workTexts from "@/locales/work/en.json";
import type commissionTexts from "@/locales/commissions/en.json";
import type enquiryTexts from "@/locales/enquiry/en.json";
import type notFoundTexts from "@/locales/not-found/en.json";
import type sentTexts from "@/locales/sent/en.json";
import type privacyTexts from "@/locales/privacy.json";

// Loads the texts of the interface in bundles. A bundle has the texts that load together, for example those of the admin area. A new
// text needs an entry in the files of both languages (web/src/locales). Components read texts with useT (lib/i18n.tsx).

/** The key of a text in any bundle. */
export type TextKey =
  | keyof typeof siteTexts
  | keyof typeof adminTexts
  | keyof typeof galleryTexts
  | keyof typeof notFoundTexts
  | keyof typeof sessionTexts
  | keyof typeof privacyTexts
  | keyof typeof seriesTexts
  | keyof typeof workTexts
  | keyof typeof commissionTexts
  | keyof typeof enquiryTexts
  | keyof typeof sentTexts;
/** A bundle that this file loads: the texts of all pages, of the admin area, or of the privacy page. addTexts adds other texts. */
export type TextBundle = "site" | "admin" | "privacy";
type Texts = Partial<Record<TextKey, string>>;

// Each file is a chunk of its own, so that a visitor downloads one language and no texts of the admin area.
const files: Record<TextBundle, Record<Language, () => Promise<{ default: Texts }>>> = {
  site: { en: () => import("@/locales/en.json"), pt: () => import("@/locales/pt.json") },
  admin: {
    en: () => import("@/locales/admin/en.json"),
    pt: () => import("@/locales/admin/pt.json"),
  },
  // The privacy page is Portuguese in both languages (docs/product.md, rule 20).
  privacy: {
    en: () => import("@/locales/privacy.json"),
    pt: () => import("@/locales/privacy.json"),
  },
};

// The bundles and languages in use. Every bundle in use is loaded in every language in use.
const bundles = new Set<TextBundle>();
const languages = new Set<Language>();
const texts: Record<Language, Texts> = { en: {}, pt: {} };
/** The names of the loaded files, such as "site/en". */
const loadedFiles = new Set<string>();

/** Loads the texts of a bundle in a language, unless they are loaded. */
async function loadFile(bundle: TextBundle, language: Language): Promise<void> {
  const name = `${bundle}/${language}`;
  if (loadedFiles.has(name)) return;
  const file = await files[bundle][language]();
  Object.assign(texts[language], file.default);
  loadedFiles.add(name);
}

/** Loads the files that are missing, so that every bundle in use is loaded in every language in use. */
async function loadMissing(): Promise<void> {
  await Promise.all(
    [...bundles].flatMap((bundle) => [...languages].map((language) => loadFile(bundle, language))),
  );
}

/** Adds texts that are part of the chunk of a lazy component, in both languages. */
export function addTexts(added: Record<Language, Texts>): void {
  Object.assign(texts.en, added.en);
  Object.assign(texts.pt, added.pt);
}

/** Loads a bundle in every language in use. */
export function loadTexts(bundle: TextBundle): Promise<void> {
  bundles.add(bundle);
  return loadMissing();
}

/** Loads a language for every bundle in use. */
export function loadLanguage(language: Language): Promise<void> {
  languages.add(language);
  return loadMissing();
}

/** Whether every bundle in use is loaded in this language. */
export function hasLanguage(language: Language): boolean {
  return [...bundles].every((bundle) => loadedFiles.has(`${bundle}/${language}`));
}

/** The text of a key. @throws if its bundle is not loaded; locales.test.ts checks that for every page. */
export function textOf(language: Language, key: TextKey): string {
  const text = texts[language][key];
  if (text === undefined) throw new Error(`The text ${key} was not loaded`);
  return text;
}
