import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { callFunction } from "@/lib/call-function";
import { useOwnerBackend } from "@/lib/backend";
import { LIST_PAGE_ROWS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { QuarantinedMessage } from "@/lib/types";

/** One page of the quarantine, as the server's function returns it. */
type QuarantinePage = {
  items: QuarantinedMessage[];
  /** The number of quarantined messages on all pages. */
  total: number;
  /** How many messages on all pages are from a flood (more messages within an hour than the limit). */
  flood: number;
};

/**
 * Fetches one page of the quarantine, newest first. The quarantine has the messages that look like spam or are from a flood
 * (docs/product.md, rule 13).
 */
export function useQuarantine(page: number) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.quarantinePage(page),
    staleTime: 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { items, total, flood } = await callFunction<QuarantinePage>(
        backend,
        "contact-quarantine",
        { from: (page - 1) * LIST_PAGE_ROWS, limit: LIST_PAGE_ROWS },
        signal,
      );
      return { rows: items, total, flood };
    },
  });
}

/** Moves a quarantined message to the inbox ("restore"), or deletes it. */
export function useResolveQuarantined(action: "restore" | "delete") {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callFunction(backend, "contact-quarantine", { action, id }),
    onSettled: () =>
      Promise.all([
        refetch(queryClient, messageKeys.quarantine),
        refetch(queryClient, messageKeys.all),
      ]),
  });
}
