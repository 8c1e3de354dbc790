import { renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useAuth } from "@/lib/auth";

it("S8-client-8: throws outside its provider", () => {
  vi.mocked(console.error).mockImplementation(() => undefined);
  expect(() => renderHook(useAuth)).toThrow("useAuth must be used within an AuthProvider");
  vi.mocked(console.error).mockClear();
});
