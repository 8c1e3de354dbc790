import { PrivacyArticle } from "@/features/privacy/components/privacy-article";
import { useT } from "@/lib/i18n";
import { usePageTitle } from "@/lib/use-page-title";

/** The privacy page. It sets the document title; the settings preview shows only its article. */
export function PrivacyPage() {
  const t = useT();
  usePageTitle(t("privacy.title"));
  return <PrivacyArticle />;
}
