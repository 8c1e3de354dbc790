import { describe, expect, it } from "vitest";
import { parseBoot } from "@/lib/boot";
import { testBoot } from "@/test/render";

describe("parseBoot", () => {
  it("parses the server's boot data", () => {
    expect(parseBoot(JSON.stringify(testBoot))).toEqual(testBoot);
  });

  it.each([
    ["nothing", undefined],
    ["the empty mark", "{}"],
    ["an unknown language", JSON.stringify({ ...testBoot, language: "de" })],
    [
      "a missing text of the owner",
      JSON.stringify({ ...testBoot, site: { ...testBoot.site, texts: { en: {}, pt: {} } } }),
    ],
    ["no site", JSON.stringify({ ...testBoot, site: undefined })],
  ])("rejects %s", (_, text) => {
    expect(() => parseBoot(text)).toThrow("boot data is not valid");
  });
});
