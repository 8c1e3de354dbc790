import { useBoot, type Language, type SiteTextKey } from "@/lib/boot";
import { otherLanguage, useLanguage } from "@/lib/i18n";

/** `lang` is there when the text is not in the page's language (WCAG 3.1.2). */
export type SiteText = { text: string; lang?: Language };

/** One of the owner's own sentences in the page's language, else in the other; empty when the owner took it away. */
export function useSiteText(key: SiteTextKey): SiteText {
  const { texts } = useBoot().site;
  const { language } = useLanguage();
  const text = texts[language][key];
  const lang = otherLanguage(language);
  return text || !texts[lang][key] ? { text } : { text: texts[lang][key], lang };
}
