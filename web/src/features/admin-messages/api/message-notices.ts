import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { callFunction } from "@/lib/call-function";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import type { MessageNotice } from "@/lib/types";

const LOOK_AGAIN_MS = 60_000;

/** What is wrong with the notices of these messages, by the message's id; those that were sent are left out. */
export function useNoticeTroubles(ids: readonly string[]) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.noticesOf(ids),
    enabled: ids.length > 0,
    staleTime: 0,
    refetchInterval: LOOK_AGAIN_MS, // nothing tells of a try that has failed
    queryFn: async ({ signal }) => {
      const { items } = await callFunction<{ items: MessageNotice[] }>(
        backend,
        "contact-notices",
        { ids },
        signal,
      );
      const troubles: Record<string, MessageNotice[]> = {};
      for (const notice of items)
        if (notice.state === "failed" || notice.state === "retrying")
          (troubles[notice.message_id] ??= []).push(notice);
      return troubles;
    },
  });
}

export function useSendNoticesAgain() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      callFunction(backend, "contact-notices", { action: "retry", ids: [id] }),
    onSuccess: () => cache.invalidateQueries({ queryKey: messageKeys.notices }),
  });
}
