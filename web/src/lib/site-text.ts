import { useBoot, type SiteTextKey } from "@/lib/boot";
import { useLanguage } from "@/lib/i18n";

/** One of the owner's own sentences in the page's language; empty when the owner took it away. */
export function useSiteText(key: SiteTextKey): string {
  const { site } = useBoot();
  const { language } = useLanguage();
  return site.texts[language][key];
}
