import { describe, expect, it } from "vitest";
import { facebookUrl, instagramHandle, instagramUrl, whatsappUrl } from "@/lib/site-links";

const site = (texts: object) => texts;

describe("site links", () => {
  it("keeps full URLs unchanged", () => {
    const instagram = "https://www.instagram.com/alvor.atelie/?hl=pt";
    expect(instagramUrl(site({ instagram }))).toBe(instagram);
    expect(instagramHandle(site({ instagram }))).toBe("@alvor.atelie");
    expect(whatsappUrl(site({ whatsapp: "https://wa.me/351900000000" }))).toBe(
      "https://wa.me/351900000000",
    );
  });

  it("completes handles and numbers", () => {
    expect(instagramUrl(site({ instagram: "@alvor" }))).toBe("https://www.instagram.com/alvor");
    expect(instagramHandle(site({ instagram: "alvor" }))).toBe("@alvor");
    expect(facebookUrl(site({ facebook: "alvor" }))).toBe("https://www.facebook.com/alvor");
    expect(whatsappUrl(site({ whatsapp: "+351 900 000 000" }))).toBe("https://wa.me/351900000000");
  });

  it("has no link without a value", () => {
    expect(instagramUrl(site({}))).toBeUndefined();
    expect(instagramHandle(site({ instagram: "  " }))).toBeUndefined();
    expect(whatsappUrl(site({ whatsapp: "" }))).toBeUndefined();
    expect(whatsappUrl(site({ whatsapp: "912 345 678" }))).toBeUndefined();
  });
});
