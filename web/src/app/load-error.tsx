import { PageShell } from "@/components/layout/page-shell";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";

/**
 * The page that is shown in place of a page that failed. Its button reloads the document instead of rendering the page again.
 * A page can fail because the server was updated, and then the chunks of the old version no longer exist.
 */
export function LoadError() {
  const t = useT();
  return (
    <PageShell foot="band">
      <div className="page-container py-section" role="alert">
        <h1 className="text-h2">{t("common.loadError")}</h1>
        <Button variant="outline" className="mt-8" onClick={() => window.location.reload()}>
          {t("common.retry")}
        </Button>
      </div>
    </PageShell>
  );
}
