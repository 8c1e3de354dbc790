import { getCountries, getCountryCallingCode, Metadata } from "libphonenumber-js/min";
import { expect, it } from "vitest";
import {
  formFieldName,
  noCommissions,
  refusalText,
  toSettings,
  settingsSchema,
  toFormValues,
} from "@/features/admin-settings/schema";
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
const values = toFormValues(settings, seed, "PT");
const issues = (change: object, stored = "") => {
  const checked = settingsSchema(stored).safeParse({ ...values, whatsappCountry: "", ...change });
  return checked.success ? [] : checked.error.issues.map(({ path }) => path.join("."));
};

it("fills the form with the texts that visitors see, and saves only changed ones", () => {
  expect(values.privacy.use).toBe("seed of use");
  expect(values.noticeEmail).toBe("ana@example.com\nrui@example.com");
  expect(issues({})).toEqual([]);
  const privacy = { ...values.privacy, use: "Para responder." };
  const next = toSettings(
    { ...values, privacy, noticeEmail: " a@b.pt; c@d.pt,\n" },
    "/portrait.jpg",
    seed,
  );
  expect(next.site.privacy).toMatchObject({ use: "Para responder.", rights: "" });
  expect(next.site.portrait).toBe("/portrait.jpg");
  expect(next.site.messageMonths).toBe(0);
  const kept = toFormValues(
    { ...settings, site: { ...settings.site, messageMonths: 12 } },
    seed,
    "PT",
  );
  expect(toSettings(kept, "", seed).site.messageMonths).toBe(12);
  expect(next.site.texts).toEqual(testBoot.site.texts);
  expect(next.noticeEmail).toEqual(["a@b.pt", "c@d.pt"]);
});

it("rejects the values that the server rejects", () => {
  for (const [field, refused] of Object.entries({
    name: [" ", "é".repeat(61)],
    instagram: ["javascript:alert(1)", "http://instagram.com/a", "two words", "//evil.example"],
    facebook: ["https://user:secret@facebook.com/"],
    whatsapp: [
      "12",
      "912 345 678",
      "+351 12",
      "+351 012 345 678",
      "call me",
      "https://evil.example/1",
      "https://evilwhatsapp.com/1",
    ],
    email: ["nobody"],
    privacySince: ["", "24.12.2026"],
    messageMonths: ["", "3", "6.5"],
    noticeEmail: ["a@b.pt nobody", Array.from({ length: 11 }, (_, n) => `a${n}@b.pt`).join(" ")],
    noticeWebhook: ["http://hooks.example/", "ftp://localhost/", "https://a.example/b c"],
  }))
    for (const value of refused) expect(issues({ [field]: value }), value).toEqual([field]);
});

it("accepts the values that the server accepts", () => {
  for (const [field, taken] of Object.entries({
    name: ["é".repeat(60)],
    instagram: ["", "@alvor.atelie", "alvor", "https://www.instagram.com/alvor"],
    whatsapp: ["+351 912 345 678", "https://wa.me/351912345678", "https://api.whatsapp.com/send"],
    noticeEmail: ["", "a@b.pt"],
    noticeWebhook: ["https://hooks.example/a?b=c", "http://127.0.0.1:5678/x", "http://localhost/"],
  }))
    for (const value of taken) expect(issues({ [field]: value }), value).toEqual([]);
});

it("accepts a number of the chosen country, and stores it in international form", () => {
  const saved = (whatsapp: string, whatsappCountry: string) =>
    toSettings({ ...values, whatsapp, whatsappCountry }, "", seed).site.whatsapp;
  for (const [whatsapp, whatsappCountry, stored] of [
    ["912 345 678", "PT", "+351912345678"],
    ["(11) 96123-4567", "BR", "+5511961234567"],
    ["+55 11 96123-4567", "PT", "+5511961234567"],
    ["00 351 912 345 678", "PT", "+351912345678"],
    ["https://wa.me/351912345678", "BR", "https://wa.me/351912345678"],
    ["", "PT", ""],
  ] as const) {
    expect(issues({ whatsapp, whatsappCountry }), whatsapp).toEqual([]);
    expect(saved(whatsapp, whatsappCountry)).toBe(stored);
  }
  const error = (whatsapp: string, whatsappCountry: string) =>
    settingsSchema("").safeParse({ ...values, whatsapp, whatsappCountry }).error?.issues[0]
      ?.message;
  expect(error("912 345 678", "")).toBe("settings.error.whatsappCountry");
  expect(error("12", "BR")).toBe("settings.error.whatsapp");
  expect(error("912 345 678 ext. 5", "PT")).toBe("settings.error.whatsapp");
  expect(error("+351 12", "")).toBe("settings.error.whatsapp");
});

it("shows a stored number with spaces and its country, without changing it", () => {
  const of = (whatsapp: string) => {
    const stored = { ...settings, site: { ...settings.site, whatsapp } };
    const shown = toFormValues(stored, seed, "PT");
    expect(toSettings(shown, "", seed).site.whatsapp).toBe(whatsapp);
    return [shown.whatsapp, shown.whatsappCountry];
  };
  expect(of("+5511961234567")).toEqual(["+55 11 96123 4567", "BR"]);
  expect(of("https://wa.me/5511961234567")).toEqual(["https://wa.me/5511961234567", "BR"]);
  expect(of("https://wa.me/message/ABC")).toEqual(["https://wa.me/message/ABC", "PT"]);
  expect(of("")).toEqual(["", "PT"]);
  // A number saved before the country was required. Its country is unknown, and saving it is accepted.
  expect(of("912 345 678")).toEqual(["912 345 678", ""]);
  expect(issues({ whatsapp: "912 345 678" }, "912 345 678")).toEqual([]);
});

it("maps the server's field names to form fields", () => {
  expect(formFieldName("site.email")).toBe("email");
  expect(formFieldName("site.texts.pt.contact.success.body")).toBe("texts.pt.thanks");
  expect(formFieldName("site.privacy.rights")).toBe("privacy.rights");
  expect(formFieldName("site.messageMonths")).toBe("messageMonths");
  expect(formFieldName("noticeWebhook")).toBe("noticeWebhook");
  expect(formFieldName("site.portrait")).toBeUndefined();
  expect(formFieldName("site.texts.pt.nothing")).toBeUndefined();
});

it("A-set-address: unusable URLs and addresses have specific error texts", () => {
  expect(refusalText("webhook_private")).toBe("settings.error.webhookPrivate");
  expect(refusalText("webhook_host")).toBe("settings.error.webhookHost");
  expect(refusalText("webhook_https")).toBe("settings.error.webhook");
  expect(refusalText("portrait_unknown")).toBe("settings.error.portrait");
  expect(refusalText("something else")).toBeUndefined();
  expect(refusalText()).toBeUndefined();
});

const [phoneLengths] = Object.values(
  import.meta.glob<Record<string, number[]>>("../../../../internal/settings/phone_lengths.json", {
    eager: true,
    import: "default",
  }),
);

it("the server knows how long each country's numbers are", () => {
  const known: Record<string, number[]> = {};
  for (const country of getCountries()) {
    const metadata = new Metadata();
    metadata.selectNumberingPlan(country);
    const code = getCountryCallingCode(country);
    const lengths = [...(known[code] ?? []), ...metadata.numberingPlan!.possibleLengths()];
    known[code] = [...new Set(lengths)].sort((a, b) => a - b);
  }
  expect(phoneLengths).toEqual(known);
});

it("A-set-commissions: the form limits the texts as the server does, and maps the field that the server rejects", () => {
  const commissions = noCommissions();
  expect(values.commissions).toEqual({ ...commissions, slots: "" });
  const refused = (change: (texts: (typeof commissions)["texts"]["pt"]) => void) => {
    const next = { ...noCommissions(), slots: "" };
    change(next.texts.pt);
    return issues({ commissions: next });
  };
  expect(refused((texts) => (texts.prices = "é".repeat(2000)))).toEqual([]);
  expect(refused((texts) => (texts.prices = "é".repeat(2001)))).toEqual([
    "commissions.texts.pt.prices",
  ]);
  expect(refused((texts) => (texts.leadTime = "é".repeat(201)))).toEqual([
    "commissions.texts.pt.leadTime",
  ]);
  expect(refused((texts) => (texts.terms = "é".repeat(5000)))).toEqual([]);
  expect(issues({ commissions: { ...commissions, slots: "", state: "on" } })).toEqual([
    "commissions.state",
  ]);
  expect(formFieldName("site.commissions.texts.pt.prices")).toBe("commissions.texts.pt.prices");
  expect(formFieldName("site.commissions.state")).toBe("commissions.state");
  for (const slots of ["-1", "101", "1.5", "x", "1 2"])
    expect(issues({ commissions: { ...commissions, slots } })).toEqual(["commissions.slots"]);
  for (const slots of ["", " 3 ", "100", "0"])
    expect(issues({ commissions: { ...commissions, slots } })).toEqual([]);
  const wrong = settingsSchema("").safeParse({
    ...values,
    whatsappCountry: "",
    commissions: { ...commissions, slots: "many" },
  });
  expect(wrong.error?.issues[0]?.message).toBe("settings.error.slots");
  expect(formFieldName("site.commissions.slots")).toBe("commissions.slots");
  const set = { ...commissions, state: "open" as const, slots: 3 };
  const loaded = { ...settings, site: { ...settings.site, commissions: set } };
  expect(toSettings(toFormValues(loaded, seed, "PT"), "", seed).site.commissions).toEqual(set);
});

it("A-set-response: the choice is saved, and its field is found when the server rejects it", () => {
  expect(values.responseTime).toBe("");
  expect(issues({ responseTime: "guessed" })).toEqual(["responseTime"]);
  expect(formFieldName("site.responseTime")).toBe("responseTime");
  expect(toSettings({ ...values, responseTime: "measured" }, "", seed).site.responseTime).toBe(
    "measured",
  );
});

it("A-set-links: the choice is saved, and is off if nothing is stored", () => {
  expect(values.enquiryLinks).toBe(false);
  expect(toSettings({ ...values, enquiryLinks: true }, "", seed).site.enquiryLinks).toBe(true);
});
