import { useState } from "react";

/** The drafts by what they are for and message. They stay while another message is open. */
const drafts = new Map<string, unknown>();

/**
 * Returns the draft of a text about a message. It stays until `clearDraft` is called. `kind` says what the text is; `empty` makes a
 * new draft. `changeDraft` replaces the draft; `clearDraft` deletes it and begins a new one.
 */
export function useMessageDraft<Draft>(kind: string, messageId: string, empty: () => Draft) {
  const key = `${kind} ${messageId}`;
  const [draft, setDraft] = useState(() => (drafts.get(key) as Draft | undefined) ?? empty());
  return {
    draft,
    changeDraft(next: Draft) {
      drafts.set(key, next);
      setDraft(next);
    },
    clearDraft() {
      drafts.delete(key);
      setDraft(empty());
    },
  };
}

/** Whether there is a draft of this kind for a message. */
export const hasMessageDraft = (kind: string, messageId: string) =>
  drafts.has(`${kind} ${messageId}`);

/** A text that is sent with an id of its own, so that one that is sent twice is stored once. */
export const emptyText = () => ({ id: crypto.randomUUID() as string, text: "" });
