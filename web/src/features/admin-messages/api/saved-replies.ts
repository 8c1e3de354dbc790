import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { MoveArgs, SavedReply } from "@/lib/types";

// This file reads and changes the saved replies: texts that the owner inserts into replies to messages.

/** Fetches the saved replies in the owner's order. */
export function useSavedReplies() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.savedReplies,
    queryFn: async ({ signal }): Promise<SavedReply[]> => {
      const { data, error } = await backend
        .from("saved_replies")
        .select("*")
        .order("position", { ascending: true })
        .abortSignal(signal);
      if (error) throw error;
      return data;
    },
  });
}

/** Changes the texts of the saved reply with this id. Without an id, adds a saved reply. */
export function useSaveReply() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, ...texts }: SavedTexts & { id?: string }) => {
      const table = backend.from("saved_replies");
      const { error } = await (id
        ? table.update(texts).eq("id", id).select("id").single()
        : table.insert(texts));
      if (error) throw error;
    },
    onSuccess: () => refetch(cache, messageKeys.savedReplies),
  });
}

/** The texts of a saved reply. A text is null if it is missing. */
export type SavedTexts = Pick<SavedReply, "title" | "text_en" | "text_pt">;

/** Deletes a saved reply. */
export function useDeleteSavedReply() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("saved_replies").delete().eq("id", id);
      if (error) throw error;
    },
    onSuccess: () => refetch(cache, messageKeys.savedReplies),
  });
}

/** Returns a function that moves a saved reply to another place in the order. Then it refetches the list, also after a failure. */
export function useMoveSavedReply() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return async (args: MoveArgs) => {
    try {
      const { error } = await backend.rpc("move_saved_reply", args);
      if (error) throw error;
    } finally {
      await refetch(cache, messageKeys.savedReplies);
    }
  };
}

/** Restores a deleted saved reply at its former place, with its id. */
export function useRestoreSavedReply() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, title, text_en, text_pt, position, created_at }: SavedReply) => {
      const { error } = await backend
        .from("saved_replies")
        .insert({ id, title, text_en, text_pt, position, created_at });
      if (error) throw error;
    },
    onSuccess: () => refetch(cache, messageKeys.savedReplies),
  });
}
