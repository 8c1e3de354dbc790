import { useState } from "react";

/** The drafts by what they are for and message. They stay while another message is open. */
const drafts = new Map<string, Draft>();

/** A draft has an id and the texts of its fields. */
type Draft = { id: string; [field: string]: string };

/**
 * Returns the draft of a text about a message. It stays until `clearDraft` is called. `kind` says what the text is; `empty` makes a
 * new draft. `changeDraft` replaces the draft; `clearDraft` deletes it and begins a new one.
 */
export function useMessageDraft<T extends Draft>(kind: string, messageId: string, empty: () => T) {
  const key = `${kind} ${messageId}`;
  const [draft, setDraft] = useState(() => (drafts.get(key) as T | undefined) ?? empty());
  return {
    draft,
    changeDraft(next: T) {
      drafts.set(key, next);
      setDraft(next);
    },
    clearDraft() {
      drafts.delete(key);
      setDraft(empty());
    },
  };
}

/** Whether there is a draft of this kind for a message with anything in its fields. */
export const hasMessageDraft = (kind: string, messageId: string) =>
  Object.entries(drafts.get(`${kind} ${messageId}`) ?? {}).some(
    ([field, value]) => field !== "id" && value.trim() !== "",
  );

/** A text that is sent with an id of its own, so that one that is sent twice is stored once. */
export const emptyText = () => ({ id: crypto.randomUUID() as string, text: "" });
