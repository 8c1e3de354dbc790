import { afterEach, describe, expect, it, vi } from "vitest";
import { randomFileName } from "@/lib/upload/file-name";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

afterEach(() => vi.unstubAllGlobals());

describe("randomFileName", () => {
  it("is a random name with the original extension in lower case", () => {
    const name = randomFileName({ name: "Telhados, manhã.JPEG", type: "image/jpeg" });
    expect(name).toMatch(uuid);
    expect(name.endsWith(".jpeg")).toBe(true);
    expect(name).not.toBe(randomFileName({ name: "Telhados, manhã.JPEG", type: "image/jpeg" }));
  });

  it("keeps only what follows the last dot", () => {
    expect(randomFileName({ name: "a.b.c.MOV", type: "" }).split(".")).toHaveLength(2);
  });

  it("takes the type's extension when the name has none", () => {
    expect(randomFileName({ name: "image", type: "image/webp" })).toMatch(/\.webp$/);
  });

  it.each(["page.html", "drawing.svg", "photo.jpg.exe", "photo.heic"])("refuses %s", (name) => {
    expect(() => randomFileName({ name, type: "image/jpeg" })).toThrow();
  });

  it("still makes a UUID where the page is not a secure context", () => {
    vi.stubGlobal("crypto", {
      getRandomValues: (bytes: Uint8Array) => bytes.fill(0xab),
    });
    expect(randomFileName({ name: "a.png", type: "image/png" })).toBe(
      "abababab-abab-4bab-abab-abababababab.png",
    );
  });
});
