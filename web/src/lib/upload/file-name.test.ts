import { afterEach, describe, expect, it, vi } from "vitest";
import { randomFileName } from "@/lib/upload/file-name";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.jpeg$/;

afterEach(() => vi.unstubAllGlobals());

describe("randomFileName", () => {
  it("returns a different name each time, with the extension", () => {
    const name = randomFileName("jpeg");
    expect(name).toMatch(uuid);
    expect(name).not.toBe(randomFileName("jpeg"));
  });

  it("makes a UUID also outside secure contexts", () => {
    vi.stubGlobal("crypto", {
      getRandomValues: (bytes: Uint8Array) => bytes.fill(0xab),
    });
    expect(randomFileName("png")).toBe("abababab-abab-4bab-abab-abababababab.png");
  });
});
