import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, expect, vi, type MockInstance } from "vitest";
import { loadLanguage, loadTexts } from "@/lib/texts";
import { fillBrowserGaps } from "@/test/browser-gaps";
import "@/features/not-found/not-found-texts";
import "@/features/session/session-texts";
import "@/lib/gallery-texts";
import "@/lib/work-texts";

// On a busy machine a lazy component may take longer to load than the default of one second.
configure({ asyncUtilTimeout: 20_000 });
// vi.waitFor gives up after one second too.
const { waitFor } = vi;
vi.waitFor = (check, options) =>
  waitFor(check, {
    timeout: 20_000,
    ...(typeof options === "number" ? { timeout: options } : options),
  });

// Loads all texts of both languages, because tests render components without the router, which loads texts.
await Promise.all([
  ...(["site", "admin", "privacy"] as const).map((part) => loadTexts(part)),
  ...(["en", "pt"] as const).map((language) => loadLanguage(language)),
]);

if (typeof window !== "undefined") fillBrowserGaps();

// Sets the mark that start.ts sets when the visitor first moves. Without it, components wait before they load code and pictures.
beforeEach(() => {
  if (typeof document !== "undefined") document.documentElement.dataset.moved = "";
});

let consoleError: MockInstance<typeof console.error>;

beforeEach(() => {
  consoleError = vi.spyOn(console, "error");
});

// A warning from React or an error logged by mistake fails the test. A test that expects one
// replaces the spy's calls itself: `vi.mocked(console.error).mockClear()` after its assertion.
afterEach(() => {
  cleanup();
  const calls = consoleError.mock.calls;
  consoleError.mockRestore();
  expect(calls, "console.error was called").toEqual([]);
});
