import { DashboardPage } from "@/features/admin-dashboard/components/dashboard-page";
import { GuideChecklist } from "@/features/admin-settings/components/guide-checklist";

/** The overview with the checklist of the guide, which belongs to another feature. */
export function DashboardRoute() {
  return (
    <DashboardPage>
      <GuideChecklist />
    </DashboardPage>
  );
}
