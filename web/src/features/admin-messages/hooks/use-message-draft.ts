import { useState, useSyncExternalStore } from "react";

/** The drafts by what they are for and message. They stay while another message is open. */
const drafts = new Map<string, Draft>();

/** A draft has an id and the texts of its fields. */
type Draft = { id: string; [field: string]: string };

const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function storeDraft(key: string, draft: Draft | undefined) {
  if (draft) drafts.set(key, draft);
  else drafts.delete(key);
  for (const listener of listeners) listener();
}

/**
 * Returns the draft of a text about a message. It stays until `clearDraft` is called. `kind` says what the text is; `empty` makes a
 * new draft. `changeDraft` replaces the draft. `clearDraft` deletes the draft that was sent, if it was not changed meanwhile, and
 * begins a new one.
 */
export function useMessageDraft<T extends Draft>(kind: string, messageId: string, empty: () => T) {
  const key = `${kind} ${messageId}`;
  const stored = useSyncExternalStore(subscribe, () => drafts.get(key)) as T | undefined;
  // The draft before the first change.
  const [newDraft, setNewDraft] = useState(empty);
  return {
    draft: stored ?? newDraft,
    changeDraft: (next: T) => storeDraft(key, next),
    clearDraft(sent: T) {
      if (drafts.get(key) === sent) storeDraft(key, undefined);
      setNewDraft(empty());
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
