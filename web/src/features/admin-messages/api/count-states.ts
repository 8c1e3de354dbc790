import { useQuery } from "@tanstack/react-query";
import { CONVERSATION_STATES } from "@/features/admin-messages/message-view";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import type { ConversationState } from "@/lib/types";

/**
 * Fetches the number of conversations (messages with their replies) in each state, for the buttons that filter the inbox. The state
 * of a conversation is a column of its message (a row of contact_submissions).
 */
export function useStateCounts() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.states,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const counts = await Promise.all(
        CONVERSATION_STATES.map(async (state) => {
          const { count, error } = await backend
            .from("contact_submissions")
            .select("id", { count: "exact", head: true })
            .eq("state", state)
            .abortSignal(signal);
          if (error) throw error;
          return [state, count ?? 0] as const;
        }),
      );
      return Object.fromEntries(counts) as Record<ConversationState, number>;
    },
  });
}
