import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { MessagePage } from "@/features/admin-messages/api/list-messages";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

/**
 * The scope of the mutations that change the status of messages or delete messages. Mutations of one scope run one after the other,
 * in the order in which they began. If they ran at the same time, the status "read" could overwrite "replied". Or a message could be
 * deleted before its status is saved, and saving the status would fail.
 */
export const MESSAGE_SCOPE = { id: "messages" };

/** A new status for the message with this id. With `from`, the status changes only if it is still `from` in the database. */
type StatusChange = { id: string; status: ContactStatus; from?: ContactStatus };

/**
 * Changes the status of a message (new, read or replied). The query cache has the new status immediately, and the previous one again
 * if the request fails.
 */
export function useSetMessageStatus() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const listQueries = { queryKey: messageKeys.admin };
  const setCachedStatus = ({ id, status }: StatusChange) => {
    const withStatus = (message: ContactSubmission) =>
      message.id === id ? { ...message, status } : message;
    queryClient.setQueriesData<MessagePage>(
      listQueries,
      (page) => page && { ...page, rows: page.rows.map(withStatus) },
    );
    queryClient.setQueryData<ContactSubmission | null>(
      messageKeys.byId(id),
      (message) => message && withStatus(message),
    );
  };
  return useMutation({
    scope: MESSAGE_SCOPE,
    mutationFn: async ({ id, status, from }: StatusChange) => {
      const update = backend.from("contact_submissions").update({ status }).eq("id", id);
      // Without `from` it is an error if no row was changed, which single() returns.
      const { error } = await (from ? update.eq("status", from) : update.select("id").single());
      if (error) throw error;
    },
    onMutate: async (change) => {
      await queryClient.cancelQueries(listQueries);
      await queryClient.cancelQueries({ queryKey: messageKeys.byId(change.id) });
      const before =
        queryClient.getQueryData<ContactSubmission | null>(messageKeys.byId(change.id)) ??
        queryClient
          .getQueriesData<MessagePage>(listQueries)
          .flatMap(([, page]) => page?.rows ?? [])
          .find((message) => message.id === change.id);
      setCachedStatus(change);
      return { before: before?.status };
    },
    onError: (_error, { id }, context) => {
      if (context?.before) setCachedStatus({ id, status: context.before });
    },
    onSettled: () => void refetch(queryClient, messageKeys.all),
  });
}
