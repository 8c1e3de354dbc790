import { useEffect, useState } from "react";
import { hasDraft } from "@/lib/drafts";

// Prevents two tabs from using one draft (the unsaved values of a form, lib/drafts.ts). An open form holds a Web Lock on the name of
// its draft. A tab that finds the name `form` locked by another tab uses the name `form~2`, and so on. The browser releases the lock
// when the tab is closed.

/** A draft name whose lock this page holds. */
export type DraftLock = { name: string; release(): void };

/** What the names of all locks begin with. */
const LOCK_PREFIX = "atelie.draft.";
/** The number of draft names of a form, which is the number of tabs that can each have a draft. */
const NAMES_PER_FORM = 5;
/** How long to wait for a lock that a closing page still holds. */
const LOCK_TIMEOUT_MS = 500;

/** The draft names of a form: `form`, `form~2` and so on. */
const namesOf = (form: string) =>
  Array.from({ length: NAMES_PER_FORM }, (_, n) => (n === 0 ? form : `${form}~${n + 1}`));

/** Whether the browser has Web Locks, which exist only in secure contexts. Without locks all tabs use one draft name. */
export const hasLocks = () => typeof navigator !== "undefined" && "locks" in navigator;

/** A draft name without a lock. */
const withoutLock = (name: string): DraftLock => ({ name, release: () => undefined });

// Locks of this page that are being released, by draft name. A new request must wait for them.
const releasing = new Map<string, Promise<unknown>>();

/** Requests a lock. Resolves with null if it is not granted. */
async function acquire(name: string, options: LockOptions): Promise<DraftLock | null> {
  await releasing.get(name);
  return new Promise((resolve) => {
    // The browser holds the lock until the promise that the callback returns resolves. Then `ended` resolves too. If the lock is not
    // available, `ended` resolves immediately.
    const ended = navigator.locks.request(
      LOCK_PREFIX + name,
      options,
      (lock) =>
        lock &&
        new Promise<void>((endLock) => {
          const release = () => {
            releasing.set(name, ended);
            endLock();
          };
          resolve({ name, release });
        }),
    );
    ended.then(
      () => resolve(null),
      () => resolve(null), // timed out
    );
  });
}

/** Locks a saved draft of the form that no other tab has open. Resolves with null if there is no such draft. */
export async function lockSavedDraft(form: string): Promise<DraftLock | null> {
  if (!hasLocks()) return hasDraft(form) ? withoutLock(form) : null;
  for (const name of namesOf(form)) {
    if (!hasDraft(name)) continue;
    // First without waiting, because a busy browser can take longer than the timeout to grant even a free lock.
    const acquired =
      (await acquire(name, { ifAvailable: true })) ??
      (await acquire(name, { signal: AbortSignal.timeout(LOCK_TIMEOUT_MS) }));
    if (acquired) return acquired;
  }
  return null;
}

/** Locks an unused name for a new draft. If all names are in use, returns the first name without a lock. */
export async function lockNewDraft(form: string): Promise<DraftLock> {
  if (!hasLocks()) return withoutLock(form);
  for (const name of namesOf(form)) {
    const acquired = hasDraft(name) ? null : await acquire(name, { ifAvailable: true });
    if (acquired) return acquired;
  }
  return withoutLock(form);
}

/** The draft name of a form that is always open; undefined until its lock is held. Dialogs use useDraftDialog. */
export function useDraftLock(form: string): string | undefined {
  const [name, setName] = useState(hasLocks() ? undefined : form);
  // Locks a saved draft, or the name of a new one, and releases the lock at unmount.
  useEffect(() => {
    if (!hasLocks()) return;
    let isCancelled = false;
    let lock: DraftLock | undefined;
    void (async () => {
      const acquired = (await lockSavedDraft(form)) ?? (await lockNewDraft(form));
      if (isCancelled) {
        acquired.release();
        return;
      }
      lock = acquired;
      setName(acquired.name);
    })();
    return () => {
      isCancelled = true;
      lock?.release();
    };
  }, [form]);
  return name;
}
