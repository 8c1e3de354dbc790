import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { callFunction } from "@/lib/call-function";
import { useOwnerBackend } from "@/lib/backend";
import { LIST_PAGE_ROWS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";
import type { QuarantinedMessage } from "@/lib/types";

type QuarantinePage = { items: QuarantinedMessage[]; total: number };

/** A page of the messages whose hidden field was filled in, newest first (READING §3.1). */
export function useQuarantine(page: number) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.quarantinePage(page),
    staleTime: 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { items, total } = await callFunction<QuarantinePage>(
        backend,
        "contact-quarantine",
        { from: (page - 1) * LIST_PAGE_ROWS, limit: LIST_PAGE_ROWS },
        signal,
      );
      return { rows: items, total };
    },
  });
}

export function useLeaveQuarantine(action: "restore" | "delete") {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callFunction(backend, "contact-quarantine", { action, id }),
    onSettled: () =>
      Promise.all([
        cache.invalidateQueries({ queryKey: messageKeys.quarantine }),
        cache.invalidateQueries({ queryKey: messageKeys.all }),
      ]),
  });
}
