import { useState, useSyncExternalStore } from "react";

// This file keeps the drafts of the texts that the owner writes about messages: replies, offers and notes on the progress. A draft
// is a text that is not sent yet. It stays while another message is open, but not after a reload.

/** The drafts, by a key of kind and message id such as "reply 0b1c…". */
const drafts = new Map<string, Draft>();

/** A draft has an id and the texts of its fields. */
type Draft = { id: string; [field: string]: string };

/** Functions that are called after a draft was stored or deleted. */
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Stores a draft. If `draft` is undefined, deletes the draft with this key. */
function setDraft(key: string, draft: Draft | undefined) {
  if (draft) drafts.set(key, draft);
  else drafts.delete(key);
  for (const listener of listeners) listener();
}

/**
 * Returns the draft of a text about a message, and functions that change and clear the draft. `kind` says what the text is, such as
 * "reply". `makeDraft` makes an empty draft. After a form has sent a draft, it passes the same object to `clearDraft`, which replaces
 * the draft by an empty one. If the owner has changed the draft while it was being sent, `clearDraft` keeps the changed draft.
 */
export function useMessageDraft<T extends Draft>(
  kind: string,
  messageId: string,
  makeDraft: () => T,
) {
  const key = `${kind} ${messageId}`;
  const stored = useSyncExternalStore(subscribe, () => drafts.get(key)) as T | undefined;
  // The draft before the first change.
  const [newDraft, setNewDraft] = useState(makeDraft);
  return {
    draft: stored ?? newDraft,
    changeDraft: (next: T) => setDraft(key, next),
    clearDraft(sent: T) {
      if (drafts.get(key) === sent) setDraft(key, undefined);
      setNewDraft(makeDraft());
    },
  };
}

/** Whether a message has a draft of this kind with text in at least one field. */
export const hasMessageDraft = (kind: string, messageId: string) =>
  Object.entries(drafts.get(`${kind} ${messageId}`) ?? {}).some(
    ([field, value]) => field !== "id" && value.trim() !== "",
  );

/** Makes an empty draft with one text. The id is sent too. If the same draft is sent again, the server stores it once, by its id. */
export const newTextDraft = () => ({ id: crypto.randomUUID() as string, text: "" });
