import { useEffect } from "react";
import { Outlet } from "react-router";
import { PageShell } from "@/components/layout/page-shell";
import { preloadToastArea } from "@/lib/toast";
import { useUnreadMessages } from "@/features/admin-shell/hooks/use-unread-messages";
import { AdminTabs } from "@/features/admin-shell/components/admin-tabs";

/** The frame of all admin pages: the tabs and the current page. */
export function AdminLayout() {
  const unread = useUnreadMessages();
  // A toast must report when the network fails. Its code could not load then, so it loads early.
  useEffect(preloadToastArea, []);
  return (
    <PageShell foot="thin">
      <AdminTabs unread={unread} />
      <Outlet />
    </PageShell>
  );
}
