import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

type StatusChange = { id: string; status: ContactStatus };

export function useSetMessageStatus() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const key = queryKeys.messages.admin;
  const put = ({ id, status }: StatusChange) =>
    cache.setQueryData<ContactSubmission[]>(key, (messages) =>
      messages?.map((message) => (message.id === id ? { ...message, status } : message)),
    );
  return useMutation({
    // In sequence: "read" on opening must not overtake "replied" a moment later.
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
      await cache.cancelQueries({ queryKey: key });
      const before = cache
        .getQueryData<ContactSubmission[]>(key)
        ?.find((message) => message.id === change.id)?.status;
      put(change);
      return { before };
    },
    onError: (_error, { id }, context) => {
      if (context?.before) put({ id, status: context.before });
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: queryKeys.messages.all }),
  });
}
