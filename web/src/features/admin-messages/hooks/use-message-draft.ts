import { useState, useSyncExternalStore } from "react";

/**
 * The drafts (texts that are not sent yet) by kind and message id, such as "reply <id>". They stay while another message is open,
 * but not after a reload.
 */
const drafts = new Map<string, Draft>();

/** A draft has an id and the texts of its fields. */
type Draft = { id: string; [field: string]: string };

/** Called after a draft was stored or deleted. */
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Stores a draft, or deletes it for undefined. */
function storeDraft(key: string, draft: Draft | undefined) {
  if (draft) drafts.set(key, draft);
  else drafts.delete(key);
  for (const listener of listeners) listener();
}

/**
 * Returns the draft of a text about a message, and functions to change and clear the draft. `kind` says what the text is, such
 * as "reply"; `empty` makes a new draft. `clearDraft` is called after sending: it deletes the draft that was sent, unless the
 * owner has changed the draft since, and begins a new one.
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

/** Whether a message has a draft of this kind with text in at least one field. */
export const hasMessageDraft = (kind: string, messageId: string) =>
  Object.entries(drafts.get(`${kind} ${messageId}`) ?? {}).some(
    ([field, value]) => field !== "id" && value.trim() !== "",
  );

/** A new draft with one text. The id is sent with the text, so that the server stores a text that arrives twice once. */
export const emptyText = () => ({ id: crypto.randomUUID() as string, text: "" });
