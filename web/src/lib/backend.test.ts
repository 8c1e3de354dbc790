import { beforeEach, describe, expect, it } from "vitest";
import { hasStoredSession, ownerBackend, publicBackend, sessionStorageKey } from "@/lib/backend";
import { testBoot } from "@/test/render";

beforeEach(() => localStorage.clear());

describe("backend", () => {
  it("makes one client of each kind per page", async () => {
    expect(publicBackend(testBoot)).toBe(publicBackend(testBoot));
    expect(publicBackend(testBoot)).not.toBe(publicBackend({ ...testBoot }));
    expect(await ownerBackend(testBoot)).toBe(await ownerBackend(testBoot));
  });

  it("looks for the session where the client itself stores it", async () => {
    for (const apiUrl of ["https://alvor.example", "http://127.0.0.1:8000"]) {
      const boot = { ...testBoot, apiUrl };
      const client = await ownerBackend(boot);
      expect((client.auth as unknown as { storageKey: string }).storageKey).toBe(
        sessionStorageKey(boot),
      );
    }
  });

  it("knows whether a session is stored", () => {
    expect(hasStoredSession(testBoot)).toBe(false);
    localStorage.setItem("sb-backend-auth-token", "{}");
    expect(hasStoredSession(testBoot)).toBe(true);
  });
});
