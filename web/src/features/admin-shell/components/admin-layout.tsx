import { useEffect } from "react";
import { Outlet } from "react-router";
import { PageShell } from "@/components/layout/page-shell";
import { preloadToastArea } from "@/lib/toast";
import { useUnreadMessages } from "@/features/admin-shell/hooks/use-unread-messages";
import { AdminTabs } from "@/features/admin-shell/components/admin-tabs";

/** The frame of all admin pages: the tabs and the current page. */
export function AdminLayout() {
  const unread = useUnreadMessages();
  // Loads the code of toasts early, because it could not load when a toast must report that the network fails.
  useEffect(preloadToastArea, []);
  return (
    <PageShell foot="thin">
      <AdminTabs unread={unread} />
      <Outlet />
    </PageShell>
  );
}
