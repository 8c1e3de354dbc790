import type { Language } from "@/lib/boot";
import { otherLanguage } from "@/lib/i18n";

/** A text of the owner. `lang` is the language of the text if it differs from that of the page (WCAG 3.1.2). */
export type LocalText = { text: string; lang?: Language | undefined };

/**
 * The first text in a language, or else the first one in the other language; "" if all are empty. `texts` are in English and in
 * Portuguese by turns. internal/pages/work.go has the same rule.
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
 * The same of columns of a row, each with its column in Portuguese. A row without any text in Portuguese may be older than these
 * columns, its texts in either language, so that none is marked.
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
