import { useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { bodyWithPictures } from "@/features/admin-messages/api/body-with-pictures";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { ContactReply, Conversation } from "@/lib/types";

// This file fetches a conversation (a message and its replies) and sends what the owner does in it.

/**
 * Calls the server's function for conversations. If `body` has no action, nothing is changed. The response has the pictures and the
 * private link (the URL at which the visitor follows the message), but not the replies.
 */
const callConversation = (backend: OwnerBackend, body: object, signal?: AbortSignal) =>
  callFunction<Conversation>(backend, "contact-reply", body, signal);

/** Fetches the replies to a message, the oldest first, and how it can be replied to. */
export function useConversation(id: string) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.conversation(id),
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const [state, { data: replies, error }] = await Promise.all([
        callConversation(backend, { message_id: id }, signal),
        backend
          .from("contact_replies")
          .select("*")
          .eq("message_id", id)
          .order("created_at", { ascending: true })
          .abortSignal(signal),
      ]);
      if (error) throw error;
      return { ...state, replies: replies satisfies ContactReply[] };
    },
  });
}

/** What the owner does in a conversation. It is the body of a call of the server's function. */
type ConversationAction =
  /** Sends a reply. The page chooses its id: if the reply is sent twice with the same id and text, the server stores it once. */
  | { action: "reply"; id: string; text: string; pictures?: File[] }
  /** Mails the reply with this id again. */
  | { action: "resend"; id: string }
  /** Replaces the private link. */
  | { action: "renew" }
  /** Marks the conversation as done, or removes the mark. */
  | { action: "done" | "reopen" };

/** The mutation key of the actions in a conversation. By this key useIsReplying finds the actions that are being sent. */
const actionKey = (messageId: string) => ["conversation-action", messageId];

/** Whether a reply to a message is being sent. True also if the form that sends the reply is no longer shown. */
export const useIsReplying = (messageId: string) =>
  useIsMutating({
    mutationKey: actionKey(messageId),
    predicate: ({ state }) => (state.variables as ConversationAction).action === "reply",
  }) > 0;

/** Sends an action in the conversation about a message, and refetches what it changes. */
export function useConversationAction(messageId: string) {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationKey: actionKey(messageId),
    mutationFn: (action: ConversationAction) => {
      // Takes the pictures out of the action. `pictures: undefined` gives every action this field, for the type checker.
      const { pictures = [], ...request } = { pictures: undefined, ...action };
      return callConversation(
        backend,
        bodyWithPictures({ ...request, message_id: messageId }, pictures),
      );
    },
    onSettled: () => refetch(queryClient, messageKeys.all),
  });
}
