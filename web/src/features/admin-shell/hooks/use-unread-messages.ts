import { useEffect, useRef } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useNewMessages } from "@/features/admin-shell/api/new-messages";
import { useMessageChanges } from "@/features/admin-shell/hooks/use-message-changes";
import { useT } from "@/lib/i18n";
import { messageKeys } from "@/lib/message-keys";
import { stackedToast } from "@/lib/toast";

/** Returns the number of unread messages for the tabs of the admin area. Shows a toast when a new message has arrived. */
export function useUnreadMessages(): number {
  const t = useT();
  const queryClient = useQueryClient();
  const { data } = useNewMessages(useMessageChanges());
  // created_at of the newest known message. "" if there is no message, undefined before the first fetch. The first fetch shows no
  // toast, because its newest message did not arrive while the page was open.
  const newestKnown = useRef<string | undefined>(undefined);

  // Reports a message that is newer than the newest known one.
  useEffect(() => {
    if (!data) return;
    const before = newestKnown.current;
    const latest = data.newest?.created_at ?? "";
    if (before !== undefined && latest <= before) return;
    newestKnown.current = latest;
    if (before === undefined || data.newest?.status !== "new") return;
    stackedToast({ title: t("messages.arrived", { name: data.newest.name }) });
    // Polling can find a message before the live channel reports it, so the other queries of messages are invalidated. The second
    // item of a query key says which query it is.
    void queryClient.invalidateQueries({
      queryKey: messageKeys.all,
      predicate: ({ queryKey }) => queryKey[1] !== messageKeys.newMessages[1],
    });
  }, [data, t, queryClient]);

  return data?.unread ?? 0;
}
