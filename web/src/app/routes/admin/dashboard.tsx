import { DashboardPage } from "@/features/admin-dashboard/components/dashboard-page";
import { GuideChecklist } from "@/features/admin-settings/components/guide-checklist";

/**
 * The route /admin: the overview. The guide's checklist is passed in, because features must not import each other's
 * components.
 */
export function DashboardRoute() {
  return (
    <DashboardPage>
      <GuideChecklist />
    </DashboardPage>
  );
}
