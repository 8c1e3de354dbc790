import type { HistoryDifference } from "@/components/history/history-dialog";
import {
  COMMISSION_TEXT_NAMES,
  noCommissions,
  ORDER_KEYS,
  stateKey,
  TEXT_KEYS,
  TEXT_NAMES,
} from "@/features/admin-settings/schema";
import { LANGUAGES } from "@/lib/constants";
import { DEFAULT_GALLERY } from "@/lib/gallery-settings";
import type { Translate } from "@/lib/i18n";
import { PRIVACY_SECTIONS } from "@/lib/privacy-sections";
import type { SiteSettings } from "@/lib/types";

// For the history of the settings: compares an earlier setting with the current settings, and makes the settings to save when the owner
// restores the earlier setting.

/** A setting as its row stores it: `key` is the row's id, and `value` has the type of one field of the settings. */
export type StoredSetting = { key: string; value: unknown };

/** The names of the fields of SiteSettings, by the keys of the rows that store them. */
const FIELDS: Record<string, keyof SiteSettings> = {
  site: "site",
  "notice.email": "noticeEmail",
  "notice.webhook": "noticeWebhook",
  "notice.language": "noticeLanguage",
  "thanks.enabled": "thanksEnabled",
};

/**
 * Returns the current settings with one setting as it was stored earlier. The stored value lacks the fields that were empty. In the
 * result these fields are "", 0 or false, because a save does not change missing fields.
 */
export function withEarlierSetting(
  current: SiteSettings,
  { key, value }: StoredSetting,
): SiteSettings {
  const field = FIELDS[key];
  if (field === undefined) return current; // not a setting of the form, such as the state of the guide
  if (field !== "site") return { ...current, [field]: value };
  const past = value as SiteSettings["site"];
  const empty = { instagram: "", facebook: "", whatsapp: "", email: "", portrait: "" };
  const sections = Object.fromEntries(PRIVACY_SECTIONS.map((section) => [section, ""]));
  // A setting that was stored before the program had gallery settings, or some texts about commissions, lacks them.
  const gallery = { ...DEFAULT_GALLERY, strip: "" as const, ...past.gallery };
  const { state, texts } = noCommissions();
  const pastTexts = past.commissions?.texts;
  const commissions = {
    state,
    slots: 0,
    ...past.commissions,
    texts: { en: { ...texts.en, ...pastTexts?.en }, pt: { ...texts.pt, ...pastTexts?.pt } },
  };
  return {
    ...current,
    site: {
      ...empty,
      messageMonths: 0,
      responseTime: "",
      enquiryLinks: false,
      enquiryCopies: false,
      ...past,
      commissions,
      gallery,
      privacy: { ...sections, ...past.privacy },
    },
  };
}

/**
 * The number of months for which `next` keeps messages, if this is fewer than the `now` settings keep them; else 0. If it is not 0,
 * saving `next` may delete older messages.
 */
export function shorterRetentionMonths(now: SiteSettings, next: SiteSettings): number {
  const before = now.site.messageMonths || Infinity; // 0 months is no limit
  const months = next.site.messageMonths || Infinity;
  return months < before ? months : 0;
}

/** The labels of all settings and their values as texts. */
function labelledTexts(settings: SiteSettings, t: Translate): [label: string, text: string][] {
  const { site } = settings;
  return [
    [t("settings.name"), site.name],
    [t("settings.portrait"), site.portrait ? t("conflict.anImage") : ""],
    ...LANGUAGES.flatMap((language) =>
      TEXT_NAMES.map((name): [string, string] => [
        `${t(`settings.text.${name}`)} (${t(`settings.language.${language}`)})`,
        site.texts[language][TEXT_KEYS[name]],
      ]),
    ),
    [
      t("settings.responseTime"),
      t(
        site.responseTime === "measured" ? "settings.responseMeasured" : "settings.responseWritten",
      ),
    ],
    [t("settings.commissionsState"), t(stateKey(site.commissions?.state ?? ""))],
    [t("settings.commissionSlots"), String(site.commissions?.slots || "")],
    ...LANGUAGES.flatMap((language) =>
      COMMISSION_TEXT_NAMES.map((name): [string, string] => [
        `${t(`settings.commission.${name}`)} (${t(`settings.language.${language}`)})`,
        site.commissions?.texts[language][name] ?? "",
      ]),
    ),
    ["Instagram", site.instagram ?? ""],
    ["Facebook", site.facebook ?? ""],
    ["WhatsApp", site.whatsapp ?? ""],
    [t("settings.email"), site.email ?? ""],
    ...PRIVACY_SECTIONS.map((section): [string, string] => [
      t(`privacy.${section}.title`),
      site.privacy?.[section] ?? "",
    ]),
    [t("settings.privacySince"), site.privacySince],
    [
      t("settings.messageMonths"),
      site.messageMonths
        ? t("settings.messageMonthsOption", { n: site.messageMonths })
        : t("settings.messageMonthsForever"),
    ],
    [t("settings.galleryTypes"), site.gallery.types.map((type) => t(`type.${type}`)).join(", ")],
    [t("settings.galleryOrder"), t(ORDER_KEYS[site.gallery.order])],
    [
      t("settings.stripOrder"),
      t(site.gallery.strip ? ORDER_KEYS[site.gallery.strip] : "settings.stripSame"),
    ],
    [t("settings.hideEmpty"), t(site.gallery.hideEmpty ? "common.yes" : "common.no")],
    [t("settings.noticeEmail"), settings.noticeEmail.join("\n")],
    [t("settings.noticeWebhook"), settings.noticeWebhook],
    [
      t("settings.noticeLanguage"),
      settings.noticeLanguage === ""
        ? t("settings.noticeLanguageOwn")
        : t(`settings.language.${settings.noticeLanguage}`),
    ],
    [t("settings.thanks"), t(settings.thanksEnabled ? "common.yes" : "common.no")],
    [t("settings.enquiryLinks"), t(site.enquiryLinks ? "common.yes" : "common.no")],
    [t("settings.enquiryCopies"), t(site.enquiryCopies ? "common.yes" : "common.no")],
  ];
}

/** The fields in which an earlier setting (`stored`) differs from the current settings, with both values as texts. */
export function settingDifferences(
  now: SiteSettings,
  stored: StoredSetting,
  t: Translate,
): HistoryDifference[] {
  const past = withEarlierSetting(now, stored);
  const current = labelledTexts(now, t);
  const differences = labelledTexts(past, t)
    .map(([label, before], n) => ({ label, before, now: current[n]![1] }))
    .filter((field) => field.before !== field.now);
  const portrait = t("conflict.anImage");
  // The texts of two portraits are the same, so a changed portrait is added here.
  if (past.site.portrait && now.site.portrait && past.site.portrait !== now.site.portrait) {
    differences.unshift({
      label: t("settings.portrait"),
      before: t("history.other", { text: portrait }),
      now: portrait,
    });
  }
  return differences;
}
