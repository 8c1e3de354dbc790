import { Outlet } from "react-router";
import { PageShell } from "@/components/layout/page-shell";
import { useUnreadMessages } from "@/features/admin-shell/hooks/use-unread-messages";
import { AdminTabs } from "@/features/admin-shell/components/admin-tabs";

export function AdminLayout() {
  const unread = useUnreadMessages();
  return (
    <PageShell base="thin">
      <AdminTabs unread={unread} />
      <Outlet />
    </PageShell>
  );
}
