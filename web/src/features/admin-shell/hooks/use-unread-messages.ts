import { useEffect, useRef } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useNewMessages } from "@/features/admin-shell/api/new-messages";
import { useMessageChanges } from "@/features/admin-shell/hooks/use-message-changes";
import { useT } from "@/lib/i18n";
import { messageKeys } from "@/lib/message-keys";
import { stackedToast } from "@/lib/toast";

/** The number of unread messages. Shows a toast when a new message has arrived. */
export function useUnreadMessages(): number {
  const t = useT();
  const cache = useQueryClient();
  const { data } = useNewMessages(useMessageChanges());
  // created_at of the newest known message; "" if there is none, undefined before the first fetch. The newest message of that
  // fetch gets no toast, because it did not arrive while the page was open.
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
    // Polling can find a message before the live channel reports it, so all other queries of messages are invalidated here.
    void cache.invalidateQueries({
      queryKey: messageKeys.all,
      predicate: ({ queryKey }) => queryKey[1] !== messageKeys.newMessages[1],
    });
  }, [data, t, cache]);

  return data?.unread ?? 0;
}
