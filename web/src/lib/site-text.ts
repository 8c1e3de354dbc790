import { useBoot, type Language, type SiteTextKey } from "@/lib/boot";
import { useLanguage } from "@/lib/i18n";
import { localText, type LocalText } from "@/lib/local-text";

/** A text of the owner in the language of the page, else in the other language; "" if both are empty. */
export function useOwnerText<K extends string>(
  texts: Record<Language, Record<K, string>>,
  key: K,
): LocalText {
  return localText(useLanguage().language, texts.en[key], texts.pt[key]);
}

/** One of the owner's texts in the boot data (SITE_TEXT_KEYS). */
export function useSiteText(key: SiteTextKey): LocalText {
  return useOwnerText(useBoot().site.texts, key);
}
