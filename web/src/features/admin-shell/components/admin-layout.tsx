import { useEffect } from "react";
import { Outlet } from "react-router";
import { PageShell } from "@/components/layout/page-shell";
import { preloadToastArea } from "@/lib/toast";
import { useUnreadMessages } from "@/features/admin-shell/hooks/use-unread-messages";
import { AdminTabs } from "@/features/admin-shell/components/admin-tabs";

/** The frame of all admin pages: the tabs of the admin area, and below them the current page. */
export function AdminLayout() {
  const unread = useUnreadMessages();
  // Loads the code of toasts early. A toast that reports that the network has failed could not load its code then.
  useEffect(preloadToastArea, []);
  return (
    <PageShell foot="thin">
      <AdminTabs unread={unread} />
      <Outlet />
    </PageShell>
  );
}
