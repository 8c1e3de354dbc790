// What is typed and not saved yet, in this page's memory only: a session that ends, or the Back button, takes the
// form away, and the same person finds it again. A reload empties it; the browser asks before that.
const drafts = new Map<string, unknown>();

/** The name belongs to one person and one form, so that nobody else gets to see it. */
export function draftName(userId: string | undefined, form: string): string {
  return `${userId ?? ""}/${form}`;
}

export function keepDraft(name: string, draft: unknown): void {
  drafts.set(name, draft);
}

export function dropDraft(name: string): void {
  drafts.delete(name);
}

/** Undefined when nothing was kept; the caller knows what its form keeps under its name. */
export function draftOf(name: string): unknown {
  return drafts.get(name);
}
