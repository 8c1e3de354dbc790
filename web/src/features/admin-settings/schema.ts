import * as z from "zod/mini";
import type { Language, SiteTextKey } from "@/lib/boot";
import { PRIVACY_SECTIONS, type PrivacySection } from "@/lib/privacy-sections";
import type { Key } from "@/lib/texts";
import type { SiteSettings } from "@/lib/types";

// The same rules as the server's (internal/pages/settings.go). Issues carry catalogue keys.
z.config({ jitless: true });

const issue = (error: Key) => ({ error });
// Code points, as the server counts.
const within = (limit: number) =>
  z.refine<string>((given) => Array.from(given).length <= limit, issue("settings.error.long"));
const line = z.string().check(z.trim(), within(200));
const text = z.string().check(z.trim(), within(5000));

const isHttps = (given: string) => {
  if (given.length > 1000 || /\s/.test(given) || !URL.canParse(given)) return false;
  const { protocol, username, hostname } = new URL(given);
  return protocol === "https:" && username === "" && hostname !== "";
};
const isAddress = (given: string) => /[:/]/.test(given);

const isProfile = (given: string) =>
  given === "" || (isAddress(given) ? isHttps(given) : /^@?[\w.-]{1,200}$/.test(given));

function isWhatsApp(given: string): boolean {
  if (given === "") return true;
  if (isAddress(given))
    return isHttps(given) && /^(wa\.me|(.+\.)?whatsapp\.com)$/.test(new URL(given).hostname);
  const digits = given.replace(/\D/g, "").length;
  return /^\+?[\d ().-]+$/.test(given) && digits >= 7 && digits <= 15;
}

function isWebhook(given: string): boolean {
  if (given === "" || isHttps(given)) return true;
  // On this machine no network carries it.
  return (
    URL.canParse(given) && /^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:\d+)?(\/\S*)?$/.test(given)
  );
}

const email = z.email();
const isEmail = (given: string) => given.length <= 254 && email.safeParse(given).success;

/** Addresses as people list them: by line, comma, semicolon or blank. */
export const addressesIn = (given: string) => given.split(/[\s,;]+/).filter((one) => one !== "");

const texts = z.object({
  title: line,
  description: text,
  description2: text,
  portraitAlt: line,
  trustedBy: line,
  responseTime: line,
  thanks: text,
});
export type TextName = keyof z.output<typeof texts>;

/** The form's names of the owner's texts; the keys themselves hold dots, which forms read as paths. */
export const TEXT_KEYS: Record<TextName, SiteTextKey> = {
  title: "about.title",
  description: "about.description",
  description2: "about.description2",
  portraitAlt: "about.portraitAlt",
  trustedBy: "testimonials.trustedBy",
  responseTime: "contact.responseTime",
  thanks: "contact.success.body",
};
export const TEXT_NAMES = Object.keys(TEXT_KEYS) as TextName[];

export const settingsSchema = z.object({
  name: z.string().check(z.trim(), z.minLength(1, issue("settings.error.name")), within(60)),
  instagram: z.string().check(z.trim(), z.refine(isProfile, issue("settings.error.profile"))),
  facebook: z.string().check(z.trim(), z.refine(isProfile, issue("settings.error.profile"))),
  whatsapp: z.string().check(z.trim(), z.refine(isWhatsApp, issue("settings.error.whatsapp"))),
  email: z.string().check(
    z.trim(),
    z.refine((given) => given === "" || isEmail(given), issue("contact.error.email")),
  ),
  privacySince: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/, issue("settings.error.date"))),
  texts: z.object({ en: texts, pt: texts }),
  privacy: z.object({
    information: text,
    use: text,
    sharing: text,
    security: text,
    cookies: text,
    rights: text,
    contact: text,
    changes: text,
  }),
  noticeEmail: z.string().check(
    z.refine((given) => addressesIn(given).every(isEmail), issue("settings.error.addresses")),
    z.refine((given) => addressesIn(given).length <= 10, issue("settings.error.addressCount")),
  ),
  noticeWebhook: z.string().check(z.trim(), z.refine(isWebhook, issue("settings.error.webhook"))),
  noticeLanguage: z.enum(["", "en", "pt"]),
  thanksEnabled: z.boolean(),
});
export type SettingsValues = z.output<typeof settingsSchema>;

/** `privacySeed` gives the text that comes with the program, which stands where the owner has written none. */
export function valuesOf(
  { site, noticeEmail, noticeWebhook, noticeLanguage, thanksEnabled }: SiteSettings,
  privacySeed: (section: PrivacySection) => string,
): SettingsValues {
  const own = (language: Language) =>
    Object.fromEntries(
      TEXT_NAMES.map((name) => [name, site.texts[language][TEXT_KEYS[name]]]),
    ) as SettingsValues["texts"]["en"];
  return {
    name: site.name,
    instagram: site.instagram ?? "",
    facebook: site.facebook ?? "",
    whatsapp: site.whatsapp ?? "",
    email: site.email ?? "",
    privacySince: site.privacySince,
    texts: { en: own("en"), pt: own("pt") },
    privacy: Object.fromEntries(
      PRIVACY_SECTIONS.map((section) => [section, site.privacy?.[section] || privacySeed(section)]),
    ) as SettingsValues["privacy"],
    noticeEmail: noticeEmail.join("\n"),
    noticeWebhook,
    noticeLanguage,
    thanksEnabled,
  };
}

export function settingsOf(
  values: SettingsValues,
  portrait: string,
  privacySeed: (section: PrivacySection) => string,
): SiteSettings {
  const own = (language: Language) =>
    Object.fromEntries(
      TEXT_NAMES.map((name) => [TEXT_KEYS[name], values.texts[language][name]]),
    ) as SiteSettings["site"]["texts"]["en"];
  const { name, instagram, facebook, whatsapp, email: address, privacySince } = values;
  return {
    site: {
      name,
      instagram,
      facebook,
      whatsapp,
      email: address,
      portrait,
      privacySince,
      texts: { en: own("en"), pt: own("pt") },
      privacy: Object.fromEntries(
        PRIVACY_SECTIONS.map((section) => {
          const written = values.privacy[section];
          return [section, written === privacySeed(section) ? "" : written];
        }),
      ),
    },
    noticeEmail: addressesIn(values.noticeEmail),
    noticeWebhook: values.noticeWebhook,
    noticeLanguage: values.noticeLanguage,
    thanksEnabled: values.thanksEnabled,
  };
}

/** The form's name of the field that the server refused, such as "site.texts.en.about.title". */
export function fieldOf(refused: string): string | undefined {
  const inTexts = /^site\.texts\.(en|pt)\.(.+)$/.exec(refused);
  if (inTexts) {
    const name = TEXT_NAMES.find((one) => TEXT_KEYS[one] === inTexts[2]);
    return name && `texts.${inTexts[1]}.${name}`;
  }
  const field = refused.replace(/^site\./, "");
  return /^(name|instagram|facebook|whatsapp|email|privacySince|noticeEmail|noticeWebhook|noticeLanguage|privacy\.\w+)$/.test(
    field,
  )
    ? field
    : undefined;
}
