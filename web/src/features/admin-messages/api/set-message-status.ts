import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { MessagePage } from "@/features/admin-messages/api/list-messages";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

type StatusChange = { id: string; status: ContactStatus };

/** Changes the status of a message. The cache changes immediately and is restored if the request fails. */
export function useSetMessageStatus() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const pages = { queryKey: messageKeys.admin };
  const put = ({ id, status }: StatusChange) => {
    const set = (message: ContactSubmission) =>
      message.id === id ? { ...message, status } : message;
    cache.setQueriesData<MessagePage>(
      pages,
      (page) => page && { ...page, rows: page.rows.map(set) },
    );
    cache.setQueryData<ContactSubmission | null>(
      messageKeys.one(id),
      (message) => message && set(message),
    );
  };
  return useMutation({
    // The scope runs changes one after the other: "read" on opening must not arrive after a later "replied".
    scope: { id: "message-status" },
    mutationFn: async ({ id, status }: StatusChange) => {
      const { error } = await backend
        .from("contact_submissions")
        .update({ status })
        .eq("id", id)
        .select("id")
        .single();
      if (error) throw error;
    },
    onMutate: async (change) => {
      await cache.cancelQueries(pages);
      await cache.cancelQueries({ queryKey: messageKeys.one(change.id) });
      const before =
        cache.getQueryData<ContactSubmission | null>(messageKeys.one(change.id)) ??
        cache
          .getQueriesData<MessagePage>(pages)
          .flatMap(([, page]) => page?.rows ?? [])
          .find((message) => message.id === change.id);
      put(change);
      return { before: before?.status };
    },
    onError: (_error, { id }, context) => {
      if (context?.before) put({ id, status: context.before });
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: messageKeys.all }),
  });
}
