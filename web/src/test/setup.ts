import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/react";
import { afterEach, beforeEach, expect, vi, type MockInstance } from "vitest";
import { fillBrowserGaps } from "@/test/browser-gaps";

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
