import { useQuery, useQueryClient } from "@tanstack/react-query";
import { MESSAGE_COLUMNS, type MessagePage } from "@/features/admin-messages/api/list-messages";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import type { ContactSubmission } from "@/lib/types";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Fetches the message that the owner has opened, whether or not the list shows it. The result is null if there is no message with
 * this id.
 */
export function useMessage(id: string | null) {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useQuery({
    queryKey: messageKeys.byId(id ?? ""),
    enabled: id !== null && UUID.test(id), // the id is from the URL, and a truncated URL has an invalid one
    staleTime: 0,
    // Until the message has loaded, its row from the list is shown.
    placeholderData: () => {
      const pages = queryClient.getQueriesData<MessagePage>({ queryKey: messageKeys.admin });
      return pages.flatMap(([, page]) => page?.rows ?? []).find((row) => row.id === id);
    },
    queryFn: async ({ signal }): Promise<ContactSubmission | null> => {
      const { data, error } = await backend
        .from("contact_submissions")
        .select(MESSAGE_COLUMNS)
        .eq("id", id ?? "")
        .limit(1)
        .abortSignal(signal);
      if (error) throw error;
      return data[0] ?? null;
    },
  });
}
