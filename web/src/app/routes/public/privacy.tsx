import { PageShell } from "@/components/layout/page-shell";
import { PrivacyPage } from "@/features/privacy/components/privacy-page";

/** The route /politica-privacidade: the privacy page. */
export function PrivacyRoute() {
  return (
    <PageShell>
      <PrivacyPage />
    </PageShell>
  );
}
