import { PageShell } from "@/components/layout/page-shell";
import { useT } from "@/lib/i18n";

/**
 * The loading page while the code of the sign-in page or of an admin page downloads. Public pages need none, because they
 * are preloaded.
 */
export function AdminFallback() {
  const t = useT();
  return (
    <PageShell base="thin">
      <p role="status" className="page-container text-ink2 pt-12">
        {t("common.loading")}
      </p>
    </PageShell>
  );
}
