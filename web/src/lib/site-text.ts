import { useBoot, type Language, type SiteTextKey } from "@/lib/boot";
import { useLanguage } from "@/lib/i18n";
import { localText, type LocalText } from "@/lib/local-text";

/** Returns a text of the owner in the language of the page, else in the other language, else "". */
export function useOwnerText<K extends string>(
  texts: Record<Language, Record<K, string>>,
  key: K,
): LocalText {
  return localText(useLanguage().language, texts.en[key], texts.pt[key]);
}

/** Returns one of the owner's texts in the boot data (JSON in the page). `key` is one of SITE_TEXT_KEYS. Chooses as useOwnerText does. */
export function useSiteText(key: SiteTextKey): LocalText {
  return useOwnerText(useBoot().site.texts, key);
}
