import { useBoot, type Language, type SiteTextKey } from "@/lib/boot";
import { otherLanguage, useLanguage } from "@/lib/i18n";

/** One of the owner's texts. `lang` is the language of the text if it is not the language of the page (WCAG 3.1.2). */
export type SiteText = { text: string; lang?: Language };

/** A text of the owner in the language of the page, else in the other language; "" if both are empty. */
export function useOwnerText<K extends string>(
  texts: Record<Language, Record<K, string>>,
  key: K,
): SiteText {
  const { language } = useLanguage();
  const text = texts[language][key];
  const other = otherLanguage(language);
  return text || !texts[other][key] ? { text } : { text: texts[other][key], lang: other };
}

/** One of the owner's texts that each page has. */
export function useSiteText(key: SiteTextKey): SiteText {
  return useOwnerText(useBoot().site.texts, key);
}
