import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { NEW_MESSAGES_POLL_LIVE_MS, NEW_MESSAGES_POLL_MS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";

/**
 * Fetches the number of unread messages and the newest message (null if there is none), again and again. `live` says whether a live
 * channel (a connection on which the server reports changes) is joined. If not, fetches more often. Messages are the rows of
 * contact_submissions.
 */
export function useNewMessages(live: boolean) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.newMessages,
    staleTime: 0,
    refetchInterval: live ? NEW_MESSAGES_POLL_LIVE_MS : NEW_MESSAGES_POLL_MS,
    queryFn: async ({ signal }) => {
      const [unread, newest] = await Promise.all([
        backend
          .from("contact_submissions")
          .select("id", { count: "exact", head: true })
          .eq("status", "new")
          .abortSignal(signal),
        backend
          .from("contact_submissions")
          .select("name, status, created_at")
          .order("created_at", { ascending: false })
          .limit(1)
          .abortSignal(signal),
      ]);
      if (unread.error) throw unread.error;
      if (newest.error) throw newest.error;
      return { unread: unread.count ?? 0, newest: newest.data[0] ?? null };
    },
  });
}
