import { expect, it } from "vitest";
import { fieldOf, settingsOf, settingsSchema, valuesOf } from "@/features/admin-settings/schema";
import type { SiteSettings } from "@/lib/types";
import { testBoot } from "@/test/render";

const seed = (section: string) => `seed of ${section}`;
const settings: SiteSettings = {
  site: testBoot.site,
  noticeEmail: ["ana@example.com", "rui@example.com"],
  noticeWebhook: "",
  noticeLanguage: "",
  thanksEnabled: false,
};
const values = valuesOf(settings, seed);
const issues = (change: object) => {
  const checked = settingsSchema.safeParse({ ...values, ...change });
  return checked.success ? [] : checked.error.issues.map(({ path }) => path.join("."));
};

it("gives the form what visitors read, and saves only what differs", () => {
  expect(values.privacy.use).toBe("seed of use");
  expect(values.noticeEmail).toBe("ana@example.com\nrui@example.com");
  expect(issues({})).toEqual([]);
  const privacy = { ...values.privacy, use: "Para responder." };
  const next = settingsOf(
    { ...values, privacy, noticeEmail: " a@b.pt; c@d.pt,\n" },
    "/portrait.jpg",
    seed,
  );
  expect(next.site.privacy).toMatchObject({ use: "Para responder.", rights: "" });
  expect(next.site.portrait).toBe("/portrait.jpg");
  expect(next.site.texts).toEqual(testBoot.site.texts);
  expect(next.noticeEmail).toEqual(["a@b.pt", "c@d.pt"]);
});

it("refuses what the server refuses", () => {
  for (const [field, refused] of Object.entries({
    name: [" ", "é".repeat(61)],
    instagram: ["javascript:alert(1)", "http://instagram.com/a", "two words", "//evil.example"],
    facebook: ["https://user:secret@facebook.com/"],
    whatsapp: ["12", "call me", "https://evil.example/1", "https://evilwhatsapp.com/1"],
    email: ["nobody"],
    privacySince: ["", "24.12.2026"],
    noticeEmail: ["a@b.pt nobody", Array.from({ length: 11 }, (_, n) => `a${n}@b.pt`).join(" ")],
    noticeWebhook: ["http://hooks.example/", "ftp://localhost/", "https://a.example/b c"],
  }))
    for (const value of refused) expect(issues({ [field]: value }), value).toEqual([field]);
});

it("takes what the server takes", () => {
  for (const [field, taken] of Object.entries({
    name: ["é".repeat(60)],
    instagram: ["", "@alvor.atelie", "alvor", "https://www.instagram.com/alvor"],
    whatsapp: ["+351 912 345 678", "https://wa.me/351912345678", "https://api.whatsapp.com/send"],
    noticeEmail: ["", "a@b.pt"],
    noticeWebhook: ["https://hooks.example/a?b=c", "http://127.0.0.1:5678/x", "http://localhost/"],
  }))
    for (const value of taken) expect(issues({ [field]: value }), value).toEqual([]);
});

it("finds the field that the server names", () => {
  expect(fieldOf("site.email")).toBe("email");
  expect(fieldOf("site.texts.pt.contact.success.body")).toBe("texts.pt.thanks");
  expect(fieldOf("site.privacy.rights")).toBe("privacy.rights");
  expect(fieldOf("noticeWebhook")).toBe("noticeWebhook");
  expect(fieldOf("site.portrait")).toBeUndefined();
  expect(fieldOf("site.texts.pt.nothing")).toBeUndefined();
});
