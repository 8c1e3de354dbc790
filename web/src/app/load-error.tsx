import { PageShell } from "@/components/layout/page-shell";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";

/** A whole page that could not be shown. Trying again reloads it: after an update old chunks are gone. */
export function LoadError() {
  const t = useT();
  return (
    <PageShell base="band">
      <div className="wrap py-section" role="alert">
        <h1 className="text-h2">{t("common.loadError")}</h1>
        <Button variant="outline" className="mt-8" onClick={() => window.location.reload()}>
          {t("common.retry")}
        </Button>
      </div>
    </PageShell>
  );
}
