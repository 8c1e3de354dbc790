import { PageShell } from "@/components/layout/page-shell";
import { NotFoundPage } from "@/features/not-found/components/not-found-page";

/** The route of all paths that no other route matches: the page for unknown URLs (404). */
export function NotFoundRoute() {
  return (
    <PageShell foot="band">
      <NotFoundPage />
    </PageShell>
  );
}
