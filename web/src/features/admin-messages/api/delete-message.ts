import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";

export function useDeleteMessage() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("contact_submissions").delete().eq("id", id);
      if (error) throw error;
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: messageKeys.all }),
  });
}
