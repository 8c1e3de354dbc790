import { useMemo } from "react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { insertOnce } from "@/lib/editing/insert-once";
import { loadedIds } from "@/lib/editing/loaded-ids";
import { undoableMoves } from "@/lib/editing/undoable-moves";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { SavedReply } from "@/lib/types";

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

/** Changes the texts of the saved reply with this id. If `isNew`, adds it; a second call then adds no second one. */
export function useSaveReply() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, isNew, texts }: { id: string; isNew: boolean; texts: SavedTexts }) => {
      const { error } = isNew
        ? await insertOnce(backend, "saved_replies", id, texts)
        : await backend.from("saved_replies").update(texts).eq("id", id).select("id").single();
      if (error) throw error;
    },
    onSuccess: () => refetch(queryClient, messageKeys.savedReplies),
  });
}

/** The texts of a saved reply. A text is null if it is missing. */
export type SavedTexts = Pick<SavedReply, "title" | "text_en" | "text_pt">;

/** Deletes a saved reply. */
export function useDeleteSavedReply() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const { error } = await backend.from("saved_replies").delete().eq("id", id);
      if (error) throw error;
    },
    onSuccess: () => refetch(queryClient, messageKeys.savedReplies),
  });
}

/** Returns a function that moves a saved reply to another place in the order. */
export function useMoveSavedReply() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMemo(
    () =>
      undoableMoves({
        loadedOrder: () => loadedIds(queryClient, messageKeys.savedReplies),
        readOrder: async () => {
          const { data, error } = await backend
            .from("saved_replies")
            .select("id")
            .order("position", { ascending: true });
          if (error) throw error;
          return data.map(({ id }) => id);
        },
        save: async (args) => {
          const { error } = await backend.rpc("move_saved_reply", args);
          if (error) throw error;
        },
        refetch: () => refetch(queryClient, messageKeys.savedReplies),
      }),
    [backend, queryClient],
  );
}

/** Restores a deleted saved reply at its former place, with its id. */
export function useRestoreSavedReply() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, title, text_en, text_pt, position, created_at }: SavedReply) => {
      const { error } = await backend
        .from("saved_replies")
        .insert({ id, title, text_en, text_pt, position, created_at });
      if (error) throw error;
    },
    onSuccess: () => refetch(queryClient, messageKeys.savedReplies),
  });
}
