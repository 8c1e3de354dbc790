import { deleteFiles, MAX_AGE_MS } from "@/lib/draft-files";

// Stores drafts (the unsaved values of forms) in localStorage. Drafts survive Back, a reload, a closed tab and the end of the session.
// The name of a draft begins with the user's id, so that other users of this browser do not see the draft.

/** What the keys of drafts in localStorage begin with. */
const PREFIX = "atelie.draft.";

/** A stored draft. `at` is when it was saved, in milliseconds since 1970. */
type StoredDraft = { at: number; draft: unknown };

// The draft names that this page has saved or loaded. deleteDraft ignores other names, because a form without changes must not
// delete the draft of another tab.
const usedNames = new Set<string>();

// Drafts that the browser could not store, because its storage is full or blocked.
const unstored = new Map<string, StoredDraft>();

/** The name of the draft of a form: the user's id, a slash and the form's name. */
export function draftName(userId: string | undefined, form: string): string {
  return `${userId ?? ""}/${form}`;
}

/** Saves a draft, which must be serializable as JSON. A draft that the browser cannot store is lost when the page is left. */
export function saveDraft(name: string, draft: unknown): void {
  // The name has no user id during sign-out, while the form is still mounted.
  if (name.startsWith("/")) return;
  usedNames.add(name);
  const stored: StoredDraft = { at: Date.now(), draft };
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(stored));
    unstored.delete(name);
  } catch (error) {
    if (!unstored.has(name))
      console.warn("The browser could not store a draft; it lasts until this page is left", error);
    unstored.set(name, stored);
    remove(name); // else an older version of the draft would be restored
  }
}

/** Deletes a draft and its files. Does nothing if this page has not used the name: the draft then belongs to another tab. */
export function deleteDraft(name: string): void {
  if (!usedNames.delete(name)) return;
  unstored.delete(name);
  remove(name);
  void deleteFiles(name);
}

/** The form name of the batch: works that the owner makes from many pictures together (features/admin-products). */
export const BATCH = "batch";

/** Deletes the user's files and batch of pictures at sign-out. Drafts of typed values stay. */
export function deletePictureDrafts(userId: string): void {
  for (const name of namesUnder(draftName(userId, BATCH), "~")) {
    usedNames.delete(name);
    unstored.delete(name);
    remove(name);
  }
  void deleteFiles(userId);
}

/** Whether a draft with this name, or with one below it, exists. */
export function hasDraft(name: string): boolean {
  return namesUnder(name, "/").length > 0;
}

/** The names of existing drafts that equal `name` or begin with it and the separator. */
function namesUnder(name: string, separator: string): string[] {
  const fits = (other: string) => other === name || other.startsWith(name + separator);
  const names = [...unstored.keys()];
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(PREFIX)) names.push(key.slice(PREFIX.length));
  } catch (error) {
    console.warn("The browser's storage cannot be used", error);
  }
  return names.filter(fits);
}

/** Removes a draft from localStorage. */
function remove(name: string): void {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch (error) {
    console.warn("The browser's storage cannot be used", error);
  }
}

/** The saved draft, of the type that the form has saved; undefined if there is none. */
export function loadDraft(name: string): unknown {
  return find(name)?.draft;
}

/** When the draft was last saved. */
export function draftTime(name: string): Date | undefined {
  const stored = find(name);
  return stored && new Date(stored.at);
}

/** Reads a draft and deletes it if it is too old. */
function find(name: string): StoredDraft | undefined {
  const inMemory = unstored.get(name);
  if (inMemory) return inMemory;
  try {
    const stored = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null") as StoredDraft | null;
    if (!stored) return undefined;
    usedNames.add(name);
    if (stored.at > Date.now() - MAX_AGE_MS) return stored;
    deleteDraft(name);
  } catch (error) {
    console.warn("A draft cannot be read", error);
  }
  return undefined;
}
