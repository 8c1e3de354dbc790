// The texts of the site, for tests in both languages.
import serverEn from "../../internal/i18n/en.json" with { type: "json" };
import serverPt from "../../internal/i18n/pt.json" with { type: "json" };
import seed from "../../internal/settings/seed.json" with { type: "json" };
import adminEn from "../../web/src/locales/admin/en.json" with { type: "json" };
import adminPt from "../../web/src/locales/admin/pt.json" with { type: "json" };
import commissionsEn from "../../web/src/locales/commissions/en.json" with { type: "json" };
import commissionsPt from "../../web/src/locales/commissions/pt.json" with { type: "json" };
import enquiryEn from "../../web/src/locales/enquiry/en.json" with { type: "json" };
import enquiryPt from "../../web/src/locales/enquiry/pt.json" with { type: "json" };
import siteEn from "../../web/src/locales/en.json" with { type: "json" };
import galleryEn from "../../web/src/locales/gallery/en.json" with { type: "json" };
import galleryPt from "../../web/src/locales/gallery/pt.json" with { type: "json" };
import notFoundEn from "../../web/src/locales/not-found/en.json" with { type: "json" };
import notFoundPt from "../../web/src/locales/not-found/pt.json" with { type: "json" };
import privacy from "../../web/src/locales/privacy.json" with { type: "json" };
import sitePt from "../../web/src/locales/pt.json" with { type: "json" };
import sentEn from "../../web/src/locales/sent/en.json" with { type: "json" };
import sentPt from "../../web/src/locales/sent/pt.json" with { type: "json" };
import seriesEn from "../../web/src/locales/series/en.json" with { type: "json" };
import seriesPt from "../../web/src/locales/series/pt.json" with { type: "json" };
import sessionEn from "../../web/src/locales/session/en.json" with { type: "json" };
import sessionPt from "../../web/src/locales/session/pt.json" with { type: "json" };
import workEn from "../../web/src/locales/work/en.json" with { type: "json" };
import workPt from "../../web/src/locales/work/pt.json" with { type: "json" };

const en = {
  ...siteEn,
  ...seriesEn,
  ...workEn,
  ...commissionsEn,
  ...enquiryEn,
  ...sentEn,
  ...galleryEn,
  ...notFoundEn,
  ...sessionEn,
  ...adminEn,
  ...privacy,
  ...seed.texts.en,
};
const pt = {
  ...sitePt,
  ...seriesPt,
  ...workPt,
  ...commissionsPt,
  ...enquiryPt,
  ...sentPt,
  ...galleryPt,
  ...notFoundPt,
  ...sessionPt,
  ...adminPt,
  ...privacy,
  ...seed.texts.pt,
};

export const languages = ["en", "pt"] as const;
export type Language = (typeof languages)[number];

/**
 * Returns the language for the title of a test that is repeated in each one. English gets the tag @soak: `make soak` runs that
 * repetition, and `make test` the one in Portuguese, whose texts are longer.
 */
export const repetition = (language: Language) => (language === "en" ? "en @soak" : "pt");

const texts = { en, pt };

/** Returns the text of a key, with its {placeholders} filled in. */
export function text(
  language: Language,
  key: keyof typeof en,
  vars: Record<string, string | number> = {},
): string {
  return fill(texts[language][key], vars);
}

const fill = (said: string, vars: Record<string, string | number>) =>
  said.replace(/\{(\w+)\}/g, (mark, name: string) => String(vars[name] ?? mark));

/** Returns a text of the server's pages and mails with its {placeholders} filled in, or else up to the first one. */
export function serverText(
  language: Language,
  key: keyof typeof serverEn,
  vars?: Record<string, string | number>,
): string {
  const said = { en: serverEn, pt: serverPt }[language][key];
  return vars ? fill(said, vars) : said.split("{")[0]!;
}

/** Returns a path with the language in its query. */
export function inLanguage(language: Language, path: string): string {
  return language === "en" ? path : `${path}${path.includes("?") ? "&" : "?"}lang=${language}`;
}
