import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { searchCondition, type MessageView } from "@/features/admin-messages/message-view";
import { useOwnerBackend } from "@/lib/backend";
import { LIST_PAGE_ROWS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";
import type { ContactSubmission } from "@/lib/types";

/** The messages of one page of the list, and the number of messages on all pages. */
export type MessagePage = { rows: ContactSubmission[]; total: number };

/** The columns of a message that the admin area needs. The server does not include the named ones in *. */
export const MESSAGE_COLUMNS =
  "*, artwork_id, language, state, last_author, last_text, last_at" as const;

/**
 * Fetches one page of messages (rows of contact_submissions) with the filters of the view, newest first. The result is the previous
 * page until the new one has loaded.
 */
export function useMessages(view: MessageView) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.adminPage(view),
    staleTime: 0, // new messages arrive while the owner is on other pages
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<MessagePage> => {
      const from = (view.page - 1) * LIST_PAGE_ROWS;
      let query = backend.from("contact_submissions").select(MESSAGE_COLUMNS, { count: "exact" });
      if (view.state) query = query.eq("state", view.state);
      if (view.status) query = query.eq("status", view.status);
      if (view.reason) query = query.eq("reason", view.reason);
      if (view.q.trim()) query = query.or(searchCondition(view.q));
      const { data, count, error } = await query
        .order("created_at", { ascending: false })
        .range(from, from + LIST_PAGE_ROWS - 1)
        .abortSignal(signal);
      // PGRST103: the page begins after the last row, because messages were deleted.
      if (error?.code === "PGRST103") return { rows: [], total: 0 };
      if (error) throw error;
      return { rows: data, total: count ?? data.length };
    },
  });
}
