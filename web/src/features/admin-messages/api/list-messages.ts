import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { searchCondition, type MessageView } from "@/features/admin-messages/message-view";
import { useOwnerBackend } from "@/lib/backend";
import { LIST_PAGE_ROWS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";
import type { ContactSubmission } from "@/lib/types";

export type MessagePage = { rows: ContactSubmission[]; total: number };

/** One page of the messages, newest first. The page before stays until the next one is there. */
export function useMessages(view: MessageView) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.adminPage(view),
    staleTime: 0, // visitors write while the owner looks elsewhere
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<MessagePage> => {
      const from = (view.page - 1) * LIST_PAGE_ROWS;
      let query = backend.from("contact_submissions").select("*", { count: "exact" });
      if (view.status) query = query.eq("status", view.status);
      if (view.reason) query = query.eq("reason", view.reason);
      if (view.q.trim()) query = query.or(searchCondition(view.q));
      const { data, count, error } = await query
        .order("created_at", { ascending: false })
        .range(from, from + LIST_PAGE_ROWS - 1)
        .abortSignal(signal);
      // The list has become shorter than where the page begins.
      if (error?.code === "PGRST103") return { rows: [], total: 0 };
      if (error) throw error;
      return { rows: data, total: count ?? data.length };
    },
  });
}
