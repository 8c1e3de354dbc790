import { PageShell } from "@/components/layout/page-shell";
import { useT } from "@/lib/i18n";

/** Shown only while the code of a sign-in or admin page is on its way. */
export function AdminFallback() {
  const t = useT();
  return (
    <PageShell base="thin">
      <p role="status" className="wrap text-ink2 pt-12">
        {t("common.loading")}
      </p>
    </PageShell>
  );
}
