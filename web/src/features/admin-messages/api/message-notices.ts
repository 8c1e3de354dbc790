import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { callFunction } from "@/lib/call-function";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { MessageNotice } from "@/lib/types";

/** The interval at which notices are fetched again. */
const NOTICES_POLL_MS = 60_000;

/**
 * Fetches the notices about messages that have failed or are being retried. A notice is a mail or webhook request that tells the
 * owners about a message. `ids` are the ids of the messages. The result is an object with the notices by message id.
 */
export function useUndeliveredNotices(ids: readonly string[]) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.noticesOf(ids),
    enabled: ids.length > 0,
    staleTime: 0,
    refetchInterval: NOTICES_POLL_MS, // the server reports no live change when a notice fails
    queryFn: async ({ signal }) => {
      const { items } = await callFunction<{ items: MessageNotice[] }>(
        backend,
        "contact-notices",
        { ids },
        signal,
      );
      const undelivered: Record<string, MessageNotice[]> = {};
      for (const notice of items)
        if (notice.state === "failed" || notice.state === "retrying")
          (undelivered[notice.message_id] ??= []).push(notice);
      return undelivered;
    },
  });
}

/** Sends the failed notices of a message again. */
export function useRetryNotices() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      callFunction(backend, "contact-notices", { action: "retry", ids: [id] }),
    onSuccess: () => refetch(queryClient, messageKeys.notices),
  });
}
