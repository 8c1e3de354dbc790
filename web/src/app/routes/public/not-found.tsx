import { PageShell } from "@/components/layout/page-shell";
import { NotFoundPage } from "@/features/not-found/components/not-found-page";

export function NotFoundRoute() {
  return (
    <PageShell base="band">
      <NotFoundPage />
    </PageShell>
  );
}
