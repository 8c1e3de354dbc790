import type { Language } from "@/lib/boot";
import { otherLanguage } from "@/lib/i18n";

/** A text of the owner. `lang` is the language of the text if it is not the language of the page (WCAG 3.1.2). */
export type LocalText = { text: string; lang?: Language | undefined };

/**
 * Chooses a text for a page in `language`: the first text in that language that is not empty, else the first text in the other
 * language that is not empty, else "". `texts` are in English and Portuguese alternately: localText("pt", titleEn, titlePt).
 * internal/pages/work.go has the same rule.
 */
export function localText(language: Language, ...texts: (string | null | undefined)[]): LocalText {
  for (const lang of [language, otherLanguage(language)])
    for (let n = lang === "pt" ? 1 : 0; n < texts.length; n += 2) {
      const text = texts[n]?.trim();
      if (text) return lang === language ? { text } : { text, lang };
    }
  return { text: "" };
}

/**
 * Like localText, for columns of a row. A column such as `title` is in English, and `title_pt` is in Portuguese. If all Portuguese
 * columns are empty, the result has no `lang`: the row may be older than these columns, and then the other columns may have Portuguese
 * texts.
 */
export function rowText<Name extends string>(
  language: Language,
  row: { [Column in Name | `${Name}_pt`]?: string | null },
  ...names: Name[]
): LocalText {
  const found = localText(language, ...names.flatMap((name) => [row[name], row[`${name}_pt`]]));
  if (!Object.entries(row).some(([name, text]) => text && name.endsWith("_pt"))) delete found.lang;
  return found;
}
