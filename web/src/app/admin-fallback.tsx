import { PageShell } from "@/components/layout/page-shell";
import { useT } from "@/lib/i18n";

/**
 * The page that is shown while the code of the sign-in page or of an admin page downloads. Public pages are preloaded and
 * do not need it.
 */
export function AdminFallback() {
  const t = useT();
  return (
    <PageShell foot="thin">
      <p role="status" className="page-container text-ink2 pt-12">
        {t("common.loading")}
      </p>
    </PageShell>
  );
}
