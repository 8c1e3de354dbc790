import { PrivacyArticle } from "@/features/privacy/components/privacy-article";
import { useT } from "@/lib/i18n";
import { usePageTitle } from "@/lib/use-page-title";

export function PrivacyPage() {
  const t = useT();
  usePageTitle(t("privacy.title"));
  return <PrivacyArticle />;
}
