import { useState } from "react";

/** The drafts that are not sent yet, by what they are for and message. They stay while another message is open. */
const unsent = new Map<string, unknown>();

/**
 * The draft of a text about a message, which is kept until `clear` is called. `kind` says what the text is; `empty` makes a new draft.
 * `change` replaces the draft, `clear` forgets it and begins a new one.
 */
export function useUnsent<Draft>(kind: string, messageId: string, empty: () => Draft) {
  const key = `${kind} ${messageId}`;
  const [draft, setDraft] = useState(() => (unsent.get(key) as Draft | undefined) ?? empty());
  return {
    draft,
    change(next: Draft) {
      unsent.set(key, next);
      setDraft(next);
    },
    clear() {
      unsent.delete(key);
      setDraft(empty());
    },
  };
}

/** A text that is sent with an id of its own, so that one that is sent twice is stored once. */
export const emptyText = () => ({ id: crypto.randomUUID() as string, text: "" });
