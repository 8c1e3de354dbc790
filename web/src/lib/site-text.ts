import { type Language, type SiteTexts, type SiteTextKey } from "@/lib/boot";
import { otherLanguage, useLanguage } from "@/lib/i18n";
import { useSite } from "@/lib/site";

/** The language in which visitors get a text: the other one when it is missing in theirs, null when in both. */
export function siteTextLanguage(
  { texts }: SiteTexts,
  key: SiteTextKey,
  language: Language,
): Language | null {
  return [language, otherLanguage(language)].find((one) => texts[one][key] !== "") ?? null;
}

/** One of the owner's own sentences in the page's language, else in the other; empty when the owner took it away. */
export function useSiteText(key: SiteTextKey): string {
  const site = useSite();
  const { language } = useLanguage();
  const spoken = siteTextLanguage(site, key, language);
  return spoken ? site.texts[spoken][key] : "";
}

/** The `lang` of a text that is not in the page's language; undefined when it is (WCAG 3.1.2). */
export function useSiteTextLang(key: SiteTextKey): Language | undefined {
  const site = useSite();
  const { language } = useLanguage();
  const spoken = siteTextLanguage(site, key, language);
  return spoken && spoken !== language ? spoken : undefined;
}
