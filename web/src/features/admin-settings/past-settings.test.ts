import { expect, it } from "vitest";
import { changesOf } from "@/features/admin-settings/changes";
import {
  settingDifferences,
  shorterRetentionMonths,
  withEarlierSetting,
} from "@/features/admin-settings/past-settings";
import { noCommissions } from "@/features/admin-settings/schema";
import type { SiteSettings } from "@/lib/types";
import { testBoot } from "@/test/render";

const now: SiteSettings = {
  site: { ...testBoot.site, portrait: "/new.jpg", privacy: { use: "Para responder." } },
  noticeEmail: ["a@alvor.example"],
  noticeWebhook: "",
  noticeLanguage: "",
  thanksEnabled: true,
};

const t = (key: string, vars: Record<string, string | number> = {}) =>
  [key, ...Object.values(vars)].join(" ");

it("A-history-back: fields that earlier settings lack become empty", () => {
  const { facebook: _, email: __, ...site } = testBoot.site;
  const past = withEarlierSetting(now, { key: "site", value: { ...site, name: "Before" } });
  expect(past.site).toMatchObject({ name: "Before", facebook: "", email: "", portrait: "" });
  expect(past.site.instagram).toBe(testBoot.site.instagram);
  expect(past.site.privacy).toMatchObject({ use: "", rights: "" });
  expect({ ...past, site: now.site }).toEqual(now);
});

it("A-history-back: the other settings are restored one by one, and unknown ones change nothing", () => {
  expect(withEarlierSetting(now, { key: "notice.email", value: [] })).toEqual({
    ...now,
    noticeEmail: [],
  });
  expect(withEarlierSetting(now, { key: "thanks.enabled", value: false }).thanksEnabled).toBe(
    false,
  );
  expect(withEarlierSetting(now, { key: "guide", value: "done" })).toEqual(now);
});

it("A-history-back: lists the differences, also between two portraits", () => {
  const site = { ...now.site, name: "Before", portrait: "/old.jpg" };
  expect(settingDifferences(now, { key: "site", value: site }, t)).toEqual([
    {
      label: "settings.portrait",
      before: "history.other conflict.anImage",
      now: "conflict.anImage",
    },
    { label: "settings.name", before: "Before", now: "Alvor" },
  ]);
  expect(settingDifferences(now, { key: "notice.language", value: "pt" }, t)).toEqual([
    {
      label: "settings.noticeLanguage",
      before: "settings.language.pt",
      now: "settings.noticeLanguageOwn",
    },
  ]);
  expect(settingDifferences(now, { key: "site", value: now.site }, t)).toEqual([]);
});

it("A-history-back: settings from before commissions remove them, and the list of differences contains their texts", () => {
  const texts = noCommissions().texts;
  const differences = {
    ...now,
    site: {
      ...now.site,
      responseTime: "measured" as const,
      commissions: {
        state: "open" as const,
        texts: { ...texts, pt: { ...texts.pt, prices: "desde 300 €" } },
      },
    },
  };
  expect(withEarlierSetting(differences, { key: "site", value: now.site }).site).toMatchObject({
    commissions: noCommissions(),
    responseTime: "",
  });
  expect(settingDifferences(differences, { key: "site", value: now.site }, t)).toEqual([
    {
      label: "settings.responseTime",
      before: "settings.responseWritten",
      now: "settings.responseMeasured",
    },
    {
      label: "settings.commissionsState",
      before: "settings.commissions.off",
      now: "settings.commissions.open",
    },
    {
      label: "settings.commission.prices (settings.language.pt)",
      before: "",
      now: "desde 300 €",
    },
  ]);
});

it("A-history-back: how long messages are kept and the number of slots are listed and restored, also when they had no limit", () => {
  const limited = {
    ...now,
    site: {
      ...now.site,
      messageMonths: 12,
      commissions: { state: "" as const, texts: noCommissions().texts, slots: 3 },
    },
  };
  const back = withEarlierSetting(limited, { key: "site", value: now.site });
  expect(changesOf(limited, back)).toEqual({
    site: { messageMonths: 0, commissions: { slots: 0 } },
  });
  const [forever, months] = ["settings.messageMonthsForever", "settings.messageMonthsOption 12"];
  expect(settingDifferences(limited, { key: "site", value: now.site }, t)).toEqual([
    { label: "settings.commissionSlots", before: "", now: "3" },
    { label: "settings.messageMonths", before: forever, now: months },
  ]);
  expect(settingDifferences(now, { key: "site", value: limited.site }, t)).toEqual([
    { label: "settings.commissionSlots", before: "3", now: "" },
    { label: "settings.messageMonths", before: months, now: forever },
  ]);
});

it("A-history-back: a text about commissions that did not exist yet becomes empty", () => {
  const { en, pt } = noCommissions().texts;
  const { terms: _, ...before } = en;
  const value = { ...now.site, commissions: { state: "open", texts: { en: before, pt } } };
  const texts = { en: { ...en, terms: "Half in advance." }, pt };
  const site = { ...now.site, commissions: { state: "open" as const, texts } };
  const { commissions } = withEarlierSetting({ ...now, site }, { key: "site", value }).site;
  expect(commissions?.texts.en).toEqual(en);
});

it.each([
  [0, 6, 6],
  [12, 6, 6],
  [6, 12, 0],
  [12, 12, 0],
  [12, 0, 0],
  [0, 0, 0],
])(
  "A-set-retention: from %i to %i months the retention is shortened to %i",
  (before, after, shorter) => {
    const keptFor = (messageMonths: number) => ({ ...now, site: { ...now.site, messageMonths } });
    expect(shorterRetentionMonths(keptFor(before), keptFor(after))).toBe(shorter);
  },
);
