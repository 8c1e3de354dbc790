import { Outlet } from "react-router";
import { PageShell } from "@/components/layout/page-shell";
import { AdminTabs } from "@/features/admin-shell/components/admin-tabs";

export function AdminLayout() {
  return (
    <PageShell base="thin">
      <AdminTabs />
      <Outlet />
    </PageShell>
  );
}
