import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { draftName, loadDraft, draftTime, deleteDraft, saveDraft } from "@/lib/drafts";

const name = draftName("ana", "reviews");

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  deleteDraft(name);
});

it("stores a draft for its user until it is deleted", () => {
  vi.useFakeTimers({ now: new Date("2026-03-01T14:32:00") });
  saveDraft(name, { words: "Azul" });
  expect(loadDraft(name)).toEqual({ words: "Azul" });
  expect(draftTime(name)).toEqual(new Date("2026-03-01T14:32:00"));
  expect(loadDraft(draftName("rui", "reviews"))).toBeUndefined();
  expect(localStorage).toHaveLength(1);
  deleteDraft(name);
  expect(loadDraft(name)).toBeUndefined();
  expect(localStorage).toHaveLength(0);
});

it("deletes drafts after a month", () => {
  vi.useFakeTimers({ now: new Date("2026-03-01T14:32:00") });
  saveDraft(name, "old");
  vi.setSystemTime(new Date("2026-04-02T14:32:00"));
  expect(loadDraft(name)).toBeUndefined();
  expect(localStorage).toHaveLength(0);
});

it("keeps a draft in the page if the browser cannot store it, and never restores an older one", () => {
  saveDraft(name, "first");
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  saveDraft(name, "second");
  saveDraft(name, "third");
  expect(loadDraft(name)).toBe("third");
  expect(warn).toHaveBeenCalledTimes(1);
  expect(localStorage).toHaveLength(0);
});
