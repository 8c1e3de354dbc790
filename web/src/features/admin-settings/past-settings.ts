import type { HistoryDifference } from "@/components/history/history-dialog";
import { TEXT_KEYS, TEXT_NAMES } from "@/features/admin-settings/schema";
import { LANGUAGES } from "@/lib/constants";
import type { Translate } from "@/lib/i18n";
import { PRIVACY_SECTIONS } from "@/lib/privacy-sections";
import type { SiteSettings } from "@/lib/types";

/** A setting as its row stores it: `key` is the row's id, and `value` has the type of one field of the settings. */
export type StoredSetting = { key: string; value: unknown };

/** The fields of the settings by the keys of their rows. */
const FIELDS: Record<string, keyof SiteSettings> = {
  site: "site",
  "notice.email": "noticeEmail",
  "notice.webhook": "noticeWebhook",
  "notice.language": "noticeLanguage",
  "thanks.enabled": "thanksEnabled",
};

/**
 * The settings with one of them as it was. What the row leaves out was empty, but the server would keep what a save leaves
 * out.
 */
export function withPast(now: SiteSettings, { key, value }: StoredSetting): SiteSettings {
  const field = FIELDS[key];
  if (field === undefined) return now;
  if (field !== "site") return { ...now, [field]: value };
  const past = value as SiteSettings["site"];
  const empty = { instagram: "", facebook: "", whatsapp: "", email: "", portrait: "" };
  const sections = Object.fromEntries(PRIVACY_SECTIONS.map((section) => [section, ""]));
  return { ...now, site: { ...empty, ...past, privacy: { ...sections, ...past.privacy } } };
}

/** All settings as texts, with their labels. */
function shown(settings: SiteSettings, t: Translate): [label: string, text: string][] {
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
    ["Instagram", site.instagram ?? ""],
    ["Facebook", site.facebook ?? ""],
    ["WhatsApp", site.whatsapp ?? ""],
    [t("settings.email"), site.email ?? ""],
    ...PRIVACY_SECTIONS.map((section): [string, string] => [
      t(`privacy.${section}.title`),
      site.privacy?.[section] ?? "",
    ]),
    [t("settings.privacySince"), site.privacySince],
    [t("settings.noticeEmail"), settings.noticeEmail.join("\n")],
    [t("settings.noticeWebhook"), settings.noticeWebhook],
    [
      t("settings.noticeLanguage"),
      settings.noticeLanguage === ""
        ? t("settings.noticeLanguageOwn")
        : t(`settings.language.${settings.noticeLanguage}`),
    ],
    [t("settings.thanks"), t(settings.thanksEnabled ? "common.yes" : "common.no")],
  ];
}

/** The settings in which the past differs from now, as texts. */
export function pastDifferences(
  now: SiteSettings,
  stored: StoredSetting,
  t: Translate,
): HistoryDifference[] {
  const past = withPast(now, stored);
  const current = shown(now, t);
  const differences = shown(past, t)
    .map(([label, before], n) => ({ label, before, now: current[n]![1] }))
    .filter((field) => field.before !== field.now);
  const portrait = t("conflict.anImage");
  // Two portraits read alike.
  if (past.site.portrait && now.site.portrait && past.site.portrait !== now.site.portrait) {
    differences.unshift({
      label: t("settings.portrait"),
      before: t("history.other", { text: portrait }),
      now: portrait,
    });
  }
  return differences;
}
