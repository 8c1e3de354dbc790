import type { Language } from "@/lib/boot";
import type { Translate } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";
import { deviceText } from "@/features/session/device-text";
import { dateTime } from "@/lib/owner-dates";
import type { ActivityEntry } from "@/lib/types";

// Describes an entry of the activity log (who did what on the site, and when) for the account page. actionText and actorText return the
// texts of the entry. entryPath returns the path to which the entry links. A new action needs a line in ACTION_KEYS.

/**
 * The text key of an entry, by "kind action", or by "kind action word" if the action alone does not say enough. The word is the
 * table, the role, or the part of the account that was changed.
 */
const ACTION_KEYS: Record<string, TextKey> = {
  "sign_in login": "activity.login",
  "sign_in logout": "activity.logout",
  "sign_in user_recovery_requested": "activity.linkRequested",
  "sign_in recovery_code_used": "activity.recoveryUsed",
  "refused sign_in_refused": "activity.refused",
  "refused factor_refused": "activity.factorRefused",
  "refused recovery_code_refused": "activity.recoveryRefused",
  "refused reauthentication_refused": "activity.confirmationRefused",
  "refused token_revoked": "activity.tokenReused",
  "export contact-export": "activity.messagesExported",
  "export site-export": "activity.siteExported",
  "export site-copy": "activity.siteCopied",
  "export backup-place": "activity.backupPlace",
  "export address-data export": "activity.addressExported",
  "export address-data erase": "activity.addressErased",
  "key user_updated_password": "activity.passwordSet",
  "key user_modified": "activity.accountChanged",
  "key user_modified email": "activity.emailChanged",
  "key user_modified phone": "activity.phoneChanged",
  "key user_signedup": "activity.accountMade",
  "key user_invited": "activity.accountInvited",
  "key user_deleted": "activity.accountDeleted",
  "key link_generated": "activity.linkMade",
  "key identity_linked": "activity.providerAdded",
  "key identity_unlinked": "activity.providerRemoved",
  "key verification_attempted": "activity.factorAdded",
  "key factor_unenrolled": "activity.factorRemoved",
  "key factor_deleted": "activity.factorRemoved",
  "key factor_updated": "activity.factorChanged",
  "key recovery_codes_created": "activity.codesMade",
  "key sso_provider_changed": "activity.ssoChanged",
  "key signing_key_rotated": "activity.signingKeyMade",
  "key role_given admin": "activity.roleGiven",
  "key role_removed admin": "activity.roleRemoved",
  "key key_made anon": "activity.publicKeyMade",
  "key key_made service_role": "activity.serviceKeyMade",
  "key key_revoked anon": "activity.publicKeyRevoked",
  "key key_revoked service_role": "activity.serviceKeyRevoked",
  "key secret_changed": "activity.secretChanged",
  "key calendar_made": "activity.calendarMade",
  "key calendar_removed": "activity.calendarRemoved",
  "key secret_forgotten": "activity.secretForgotten",
  "change site-import": "activity.siteImported",
  "change supabase-import": "activity.supabaseImported",
  "change site-restore": "activity.siteRestored",
  "change insert products": "activity.workAdded",
  "change update products": "activity.workChanged",
  "change delete products": "activity.workDeleted",
  "change insert reviews": "activity.reviewAdded",
  "change update reviews": "activity.reviewChanged",
  "change delete reviews": "activity.reviewDeleted",
  "change insert cover_images": "activity.coverAdded",
  "change update cover_images": "activity.coverChanged",
  "change delete cover_images": "activity.coverDeleted",
  "change insert series": "activity.seriesAdded",
  "change update series": "activity.seriesChanged",
  "change delete series": "activity.seriesDeleted",
  "change insert series_works": "activity.seriesWorkAdded",
  "change delete series_works": "activity.seriesWorkRemoved",
  "change update site_settings": "activity.settingsChanged",
  "change delete site_settings": "activity.settingsChanged",
};

/** The text keys of settings, by the keys of their rows in site_settings. */
const SETTING_KEYS: Record<string, TextKey> = {
  site: "activity.settings.site",
  "notice.email": "activity.settings.email",
  "notice.webhook": "activity.settings.webhook",
  "notice.language": "activity.settings.language",
  "thanks.enabled": "activity.settings.thanks",
};

/** The text keys of the actors that are no accounts. */
const ACTOR_KEYS: Record<Exclude<ActivityEntry["by"], "account">, TextKey> = {
  deleted: "activity.by.deleted",
  key: "activity.by.key",
  command: "activity.by.command",
  program: "activity.by.program",
  nobody: "activity.by.nobody",
  visitor: "activity.by.visitor",
};

/** What an entry is about, such as "Changed the work Onda". An action that this page does not know is shown as it is. */
export function actionText(t: Translate, entry: ActivityEntry, language: Language): string {
  const { kind, action, table, title, series, number = 0 } = entry;
  if (table === "contact_submissions")
    return number > 1 ? t("activity.messagesDeleted", { n: number }) : t("activity.messageDeleted");
  const thirdWord = kind === "change" ? table : title;
  const key = ACTION_KEYS[`${kind} ${action} ${thirdWord}`] ?? ACTION_KEYS[`${kind} ${action}`];
  if (!key) return action;
  const setting = table === "site_settings" && SETTING_KEYS[title ?? ""];
  const restoredTime = action === "site-restore" && title && dateTime(title, language);
  const name = setting ? t(setting) : restoredTime || title || t("activity.untitled");
  return t(key, { name, n: number, series: series?.title ?? "" });
}

/** Who acted, and from where, such as the account, the device and the IP address. */
export function actorText(t: Translate, entry: ActivityEntry): string {
  const { kind, by, account, subject, device, ip, method } = entry;
  const name = account || t("activity.by.account");
  const who =
    by !== "account"
      ? t(ACTOR_KEYS[by])
      : kind === "refused"
        ? t("activity.by.claimed", { account: name })
        : name;
  return [
    who,
    subject && t("activity.account", { account: subject }),
    method && method !== "password" && method,
    device && deviceText(t, device),
    ip,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The paths of the pages that list the rows of a table. */
const TABLE_PATHS: Record<string, string> = {
  reviews: "/admin/reviews",
  cover_images: "/admin/cover-images",
  series: "/admin/series",
};

/** The path of the page with what was changed; undefined if that no longer exists. */
export function entryPath({
  kind,
  table = "",
  row_id,
  title,
  series,
}: ActivityEntry): string | undefined {
  if (kind !== "change") return undefined;
  if (table === "site_settings") return "/admin/settings";
  if (series) return series.id && `/admin/series?works=${series.id}`;
  if (!row_id) return undefined;
  return table === "products"
    ? `/admin/products?${new URLSearchParams({ q: title ?? "" }).toString()}`
    : TABLE_PATHS[table];
}
