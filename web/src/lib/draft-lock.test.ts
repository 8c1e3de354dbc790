import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lockNewDraft, lockSavedDraft } from "@/lib/draft-lock";
import { saveDraft } from "@/lib/drafts";

const form = "user/settings";

/**
 * A stub of the Locks API. `held` are the locks of other tabs. Like a busy browser, it grants a lock only after every
 * timeout.
 */
function busyLocks(held: string[] = []) {
  const locked = new Set(held.map((name) => `atelie.draft.${name}`));
  return {
    request: async (
      name: string,
      { ifAvailable, signal }: LockOptions,
      grant: (lock: { name: string } | null) => Promise<void> | null,
    ) => {
      await Promise.resolve();
      signal?.throwIfAborted();
      if (locked.has(name)) {
        if (ifAvailable) return grant(null);
        throw new DOMException("held", "AbortError");
      }
      locked.add(name);
      await grant({ name });
      locked.delete(name);
    },
  };
}

beforeEach(() => {
  localStorage.clear();
  saveDraft(form, { name: "Half a name" });
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
});

afterEach(() => vi.unstubAllGlobals());

it("A-set-draft: gets the free lock of a saved draft even if the browser is slow", async () => {
  vi.stubGlobal("navigator", { locks: busyLocks() });
  const lock = await lockSavedDraft(form);
  expect(lock?.name).toBe(form);
  lock?.release();
  expect((await lockSavedDraft(form))?.name).toBe(form);
});

it("A-set-draft: does not use a draft that is open in another tab, and creates another", async () => {
  vi.stubGlobal("navigator", { locks: busyLocks([form]) });
  expect(await lockSavedDraft(form)).toBeNull();
  expect((await lockNewDraft(form)).name).toBe(`${form}~2`);
});
