import { useMutation, useQueryClient } from "@tanstack/react-query";
import { MESSAGE_SCOPE } from "@/features/admin-messages/api/set-message-status";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";

/** Deletes a message (a row of contact_submissions) by its id, and refetches the lists of messages. */
export function useDeleteMessage() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    scope: MESSAGE_SCOPE,
    mutationFn: async (id: string) => {
      const { error } = await backend.from("contact_submissions").delete().eq("id", id);
      if (error) throw error;
    },
    onSuccess: () => refetch(queryClient, messageKeys.all),
  });
}
