import * as z from "zod/mini";
import { countryOfNumber, toE164, formatNumber } from "@/features/admin-settings/whatsapp";
import type { CommissionState, Language, SiteTextKey } from "@/lib/boot";
import { ARTWORK_TYPES } from "@/lib/constants";
import type { WorksOrder } from "@/lib/gallery-settings";
import { PRIVACY_SECTIONS, type PrivacySection } from "@/lib/privacy-sections";
import type { TextKey } from "@/lib/texts";
import type { SiteSettings } from "@/lib/types";

// Validates the form of the site's settings by the same rules as the server (internal/settings/validate.go), and converts between form
// values and settings. Error messages are text keys.

// Without `jitless` zod calls `new Function`, which the content security policy forbids.
z.config({ jitless: true });

/** The options of a check whose error message is this text key. */
const withError = (error: TextKey) => ({ error });
/** A check that limits the length of a text. As on the server, the length is the number of code points. */
const maxLength = (limit: number) =>
  z.refine<string>((value) => Array.from(value).length <= limit, withError("settings.error.long"));
const lineSchema = z.string().check(z.trim(), maxLength(200));
const longTextSchema = z.string().check(z.trim(), maxLength(5000));

/** Whether a value is meant as a URL, even if the URL is not valid. Used for fields that also accept a name or a phone number. */
const looksLikeUrl = (value: string) => /[:/]/.test(value);

/** Whether the value is an HTTPS URL of at most 1000 characters, without white space and without a user name. */
const isHttpsUrl = (value: string) => {
  if (value.length > 1000 || /\s/.test(value) || !URL.canParse(value)) return false;
  const { protocol, username, hostname } = new URL(value);
  return protocol === "https:" && username === "" && hostname !== "";
};

/** Whether the value is empty, or the URL or the name of a profile on a social network. */
const isProfileOrEmpty = (value: string) =>
  value === "" || (looksLikeUrl(value) ? isHttpsUrl(value) : /^@?[\w.-]{1,200}$/.test(value));

/**
 * Returns the error of a WhatsApp number or URL, or undefined if it is valid or empty. `country` is the chosen country, "" if no
 * country is chosen.
 */
function whatsAppError(value: string, country: string): TextKey | undefined {
  if (value === "") return undefined;
  if (looksLikeUrl(value)) {
    const isWhatsApp =
      isHttpsUrl(value) && /^(wa\.me|(.+\.)?whatsapp\.com)$/.test(new URL(value).hostname);
    return isWhatsApp ? undefined : "settings.error.whatsapp";
  }
  if (toE164(value, country)) return undefined;
  // A number that begins with + contains the code of its country.
  const hasCountry = country !== "" || value.startsWith("+");
  return hasCountry ? "settings.error.whatsapp" : "settings.error.whatsappCountry";
}

/** Whether the value is empty or a URL for webhooks (requests that report new messages) that the server accepts. */
function isWebhookOrEmpty(value: string): boolean {
  if (value === "" || isHttpsUrl(value)) return true;
  // Plain HTTP is accepted only for a receiver on the machine of the server.
  return (
    URL.canParse(value) && /^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?(\/\S*)?$/.test(value)
  );
}

const emailSchema = z.email();
const isEmail = (value: string) => value.length <= 254 && emailSchema.safeParse(value).success;

/** Splits a list of email addresses at line breaks, commas, semicolons and spaces. */
const addressesIn = (value: string) => value.split(/[\s,;]+/).filter((address) => address !== "");

const textsSchema = z.object({
  title: lineSchema,
  description: longTextSchema,
  description2: longTextSchema,
  portraitAlt: lineSchema,
  trustedBy: lineSchema,
  responseTime: lineSchema,
  thanks: longTextSchema,
});
/** The form name of one of the texts in SITE_TEXT_KEYS. */
export type TextName = keyof z.output<typeof textsSchema>;

/** The keys of the owner's texts by their form names. Keys contain dots, which react-hook-form would read as paths. */
export const TEXT_KEYS: Record<TextName, SiteTextKey> = {
  title: "about.title",
  description: "about.description",
  description2: "about.description2",
  portraitAlt: "about.portraitAlt",
  trustedBy: "testimonials.trustedBy",
  responseTime: "contact.responseTime",
  thanks: "contact.success.body",
};
/** The form names of all the owner's texts. */
export const TEXT_NAMES = Object.keys(TEXT_KEYS) as TextName[];

/** The numbers of months that the owner can choose for keeping messages; 0: until the owner deletes them. */
export const MESSAGE_MONTHS = [0, 6, 12, 24] as const;

/** The orders of works that the owner can choose. */
export const WORKS_ORDERS = ["created_at.desc", "position.asc"] as const;
/** The text keys of these orders. */
export const ORDER_KEYS: Record<WorksOrder, TextKey> = {
  "created_at.desc": "settings.order.newest",
  "position.asc": "settings.order.manual",
};

/** What pages can say about commissions; "" is nothing. */
export const COMMISSION_STATES = ["", "open", "waitlist", "closed"] as const;
/** The text key of the name of a state. */
export const stateKey = (state: CommissionState): TextKey =>
  `settings.commissions.${state === "" ? "off" : state}`;

const commissionTextSchema = z.string().check(z.trim(), maxLength(2000));
const commissionTextsSchema = z.object({
  accepts: commissionTextSchema,
  declines: commissionTextSchema,
  prices: commissionTextSchema,
  leadTime: lineSchema,
  steps: commissionTextSchema,
  terms: longTextSchema,
});
/** The form name of one of the texts about commissions. */
export type CommissionTextName = keyof z.output<typeof commissionTextsSchema>;
/** The names of the texts about commissions in the order of the page. */
export const COMMISSION_TEXT_NAMES = Object.keys(
  commissionTextsSchema.shape,
) as CommissionTextName[];

/** What is set about commissions on a site where the owner has set nothing. */
export function noCommissions(): Omit<SettingsValues["commissions"], "slots"> {
  const none = () =>
    Object.fromEntries(
      COMMISSION_TEXT_NAMES.map((name) => [name, ""]),
    ) as SettingsValues["commissions"]["texts"]["en"];
  return { state: "", texts: { en: none(), pt: none() } };
}

const fieldsSchema = z.object({
  name: z.string().check(z.trim(), z.minLength(1, withError("settings.error.name")), maxLength(60)),
  instagram: z
    .string()
    .check(z.trim(), z.refine(isProfileOrEmpty, withError("settings.error.profile"))),
  facebook: z
    .string()
    .check(z.trim(), z.refine(isProfileOrEmpty, withError("settings.error.profile"))),
  whatsapp: z.string().check(z.trim()),
  /** Country of the number; ignored for a URL. */
  whatsappCountry: z.string(),
  email: z.string().check(
    z.trim(),
    z.refine((value) => value === "" || isEmail(value), withError("contact.error.email")),
  ),
  privacySince: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/, withError("settings.error.date"))),
  texts: z.object({ en: textsSchema, pt: textsSchema }),
  privacy: z.object({
    information: longTextSchema,
    use: longTextSchema,
    sharing: longTextSchema,
    security: longTextSchema,
    cookies: longTextSchema,
    rights: longTextSchema,
    contact: longTextSchema,
    changes: longTextSchema,
  }),
  /** An option of MESSAGE_MONTHS, as the value of a select. */
  messageMonths: z.enum(MESSAGE_MONTHS.map(String)),
  gallery: z.object({
    types: z.array(z.enum(ARTWORK_TYPES)),
    order: z.enum(WORKS_ORDERS),
    strip: z.enum(["", ...WORKS_ORDERS]),
    hideEmpty: z.boolean(),
  }),
  commissions: z.object({
    state: z.enum(COMMISSION_STATES),
    /** A number, or "" for no limit. */
    slots: z
      .string()
      .check(z.trim(), z.regex(/^([1-9]?\d|100)?$/, withError("settings.error.slots"))),
    texts: z.object({ en: commissionTextsSchema, pt: commissionTextsSchema }),
  }),
  /** Whether visitors read the measured response time instead of the text. */
  responseTime: z.enum(["", "measured"]),
  noticeEmail: z.string().check(
    z.refine((value) => addressesIn(value).every(isEmail), withError("settings.error.addresses")),
    z.refine((value) => addressesIn(value).length <= 10, withError("settings.error.addressCount")),
  ),
  noticeWebhook: z
    .string()
    .check(z.trim(), z.refine(isWebhookOrEmpty, withError("settings.error.webhook"))),
  noticeLanguage: z.enum(["", "en", "pt"]),
  thanksEnabled: z.boolean(),
  enquiryLinks: z.boolean(),
  enquiryCopies: z.boolean(),
});
/** The values of the settings form. */
export type SettingsValues = z.output<typeof fieldsSchema>;

/**
 * The schema of the form. The `stored` WhatsApp number is always valid, because an old number without a country must
 * not block other changes.
 */
export const settingsSchema = (stored: string) =>
  fieldsSchema.check((checked) => {
    const { whatsapp, whatsappCountry } = checked.value;
    const error = whatsapp === stored ? undefined : whatsAppError(whatsapp, whatsappCountry);
    if (error)
      checked.issues.push({
        code: "custom",
        input: whatsapp,
        path: ["whatsapp"],
        message: error,
      });
  });

/**
 * Converts settings to form values. `privacySeed` returns the default texts of the privacy page; `country` is preselected
 * if no WhatsApp number is stored.
 */
export function toFormValues(
  { site, noticeEmail, noticeWebhook, noticeLanguage, thanksEnabled }: SiteSettings,
  privacySeed: (section: PrivacySection) => string,
  country: string,
): SettingsValues {
  const whatsapp = site.whatsapp ?? "";
  // An old number without a country code gets no proposal, because its country is unknown.
  const proposed = whatsapp === "" || looksLikeUrl(whatsapp) ? country : "";
  const textsIn = (language: Language) =>
    Object.fromEntries(
      TEXT_NAMES.map((name) => [name, site.texts[language][TEXT_KEYS[name]]]),
    ) as SettingsValues["texts"]["en"];
  return {
    name: site.name,
    instagram: site.instagram ?? "",
    facebook: site.facebook ?? "",
    whatsapp: formatNumber(whatsapp, ""),
    whatsappCountry: countryOfNumber(whatsapp, "") ?? proposed,
    email: site.email ?? "",
    privacySince: site.privacySince,
    texts: { en: textsIn("en"), pt: textsIn("pt") },
    privacy: Object.fromEntries(
      PRIVACY_SECTIONS.map((section) => [section, site.privacy?.[section] || privacySeed(section)]),
    ) as SettingsValues["privacy"],
    messageMonths: String(site.messageMonths ?? 0),
    gallery: { ...site.gallery, strip: site.gallery.strip ?? "" },
    commissions: {
      ...(site.commissions ?? noCommissions()),
      slots: String(site.commissions?.slots || ""),
    },
    responseTime: site.responseTime ?? "",
    noticeEmail: noticeEmail.join("\n"),
    noticeWebhook,
    noticeLanguage,
    thanksEnabled,
    enquiryLinks: site.enquiryLinks ?? false,
    enquiryCopies: site.enquiryCopies ?? false,
  };
}

/** Converts form values to settings. A privacy text that equals its default is saved as "". */
export function toSettings(
  values: SettingsValues,
  portrait: string,
  privacySeed: (section: PrivacySection) => string,
): SiteSettings {
  const textsIn = (language: Language) =>
    Object.fromEntries(
      TEXT_NAMES.map((name) => [TEXT_KEYS[name], values.texts[language][name]]),
    ) as SiteSettings["site"]["texts"]["en"];
  const { name, instagram, facebook, email: address, privacySince } = values;
  return {
    site: {
      name,
      instagram,
      facebook,
      whatsapp: toE164(values.whatsapp, values.whatsappCountry) ?? values.whatsapp,
      email: address,
      portrait,
      privacySince,
      texts: { en: textsIn("en"), pt: textsIn("pt") },
      privacy: Object.fromEntries(
        PRIVACY_SECTIONS.map((section) => {
          const written = values.privacy[section];
          return [section, written === privacySeed(section) ? "" : written];
        }),
      ),
      gallery: values.gallery,
      messageMonths: Number(values.messageMonths),
      commissions: { ...values.commissions, slots: Number(values.commissions.slots) },
      responseTime: values.responseTime,
      enquiryLinks: values.enquiryLinks,
      enquiryCopies: values.enquiryCopies,
    },
    noticeEmail: addressesIn(values.noticeEmail),
    noticeWebhook: values.noticeWebhook,
    noticeLanguage: values.noticeLanguage,
    thanksEnabled: values.thanksEnabled,
  };
}

/** The text keys of the server's reasons to reject a field. */
const REFUSALS: Record<string, TextKey | undefined> = {
  portrait_unknown: "settings.error.portrait",
  webhook_https: "settings.error.webhook",
  webhook_host: "settings.error.webhookHost",
  webhook_private: "settings.error.webhookPrivate",
};

/** The text key for the server's reason to reject a field; undefined for an unknown reason. */
export const refusalText = (reason?: string) => (reason ? REFUSALS[reason] : undefined);

/** Converts the server's name of a field, such as "site.texts.en.about.title", to the form's; undefined if unknown. */
export function formFieldName(refused: string): string | undefined {
  const inTexts = /^site\.texts\.(en|pt)\.(.+)$/.exec(refused);
  if (inTexts) {
    const name = TEXT_NAMES.find((text) => TEXT_KEYS[text] === inTexts[2]);
    return name && `texts.${inTexts[1]}.${name}`;
  }
  const field = refused.replace(/^site\./, "");
  return /^(name|instagram|facebook|whatsapp|email|privacySince|messageMonths|responseTime|noticeEmail|noticeWebhook|noticeLanguage|privacy\.\w+|commissions\.(state|slots|texts\.(en|pt)\.\w+))$/.test(
    field,
  )
    ? field
    : undefined;
}
