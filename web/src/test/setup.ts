import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, expect, vi, type MockInstance } from "vitest";
import { loadLanguage, loadTexts } from "@/lib/texts";
import { fillBrowserGaps } from "@/test/browser-gaps";

// A part that loads on demand may take longer than the usual second on a busy machine.
configure({ asyncUtilTimeout: 4000 });

// Every text of both languages: the tests draw parts of pages, without the router that loads them.
await Promise.all([
  ...(["site", "admin", "privacy"] as const).map((part) => loadTexts(part)),
  ...(["en", "pt"] as const).map((language) => loadLanguage(language)),
]);

if (typeof window !== "undefined") fillBrowserGaps();

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
