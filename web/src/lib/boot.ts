import { createContext, useContext } from "react";
import type { MediaInfo } from "@/lib/media";

export type Language = "en" | "pt";

/** The sentences that only the owner can say: they come with the site's settings, not with the locales. */
export const SITE_TEXT_KEYS = [
  "about.title",
  "about.description",
  "about.description2",
  "about.portraitAlt",
  "testimonials.trustedBy",
  "contact.responseTime",
  "contact.success.body",
] as const;
export type SiteTextKey = (typeof SITE_TEXT_KEYS)[number];

/** Bodies of the privacy page's sections (specification §2). */
export type PrivacyTexts = {
  information: string;
  use: string;
  sharing: string;
  security: string;
  cookies: string;
  rights: string;
  contact: string;
  changes: string;
};

export type SiteTexts = {
  name: string;
  instagram?: string;
  facebook?: string;
  whatsapp?: string;
  email?: string;
  /** Address of the portrait beside the about text. */
  portrait?: string;
  /** The day the privacy text came into force, YYYY-MM-DD. */
  privacySince: string;
  /** Bodies of the privacy page that the owner has written; the others are the catalogue's. */
  privacy?: Partial<PrivacyTexts>;
  texts: Record<Language, Record<SiteTextKey, string>>;
};

/** What the server writes into the page. The first render depends on this and on the path alone. */
export type Boot = {
  apiUrl: string;
  anonKey: string;
  language: Language;
  /** The server's date, YYYY-MM-DD. */
  today: string;
  site: SiteTexts;
  /** What is known of the portrait's file. */
  media?: MediaInfo;
  /** Id of the work that the address names with ?art=; the router on the server sees paths alone. */
  art?: string;
  /** What the page's queries would be answered, so that it is drawn at once and asks for nothing on arrival. */
  queries?: KnownQuery[];
};

/** The key of a query (lib/query-keys.ts), and its data as the query's function gives them. */
export type KnownQuery = [key: readonly unknown[], data: unknown];

const BootContext = createContext<Boot | null>(null);

export const BootProvider = BootContext.Provider;

export function useBoot(): Boot {
  const boot = useContext(BootContext);
  if (!boot) throw new Error("useBoot must be used within a BootProvider");
  return boot;
}

/** What the owner has just saved: pages of this tab show it from their next drawing on, others when they are loaded. */
export function replaceSite(boot: Boot, site: SiteTexts): void {
  boot.site = site;
}

/** Reads the text of the boot element; an unusable one is a broken server, so it throws. */
export function parseBoot(text: string | null | undefined): Boot {
  const value: unknown = JSON.parse(text || "null");
  if (!isBoot(value)) throw new Error("The page carries no usable boot data");
  return value;
}

function isBoot(value: unknown): value is Boot {
  if (typeof value !== "object" || value === null) return false;
  const boot = value as Partial<Record<keyof Boot, unknown>>;
  return (
    typeof boot.apiUrl === "string" &&
    typeof boot.anonKey === "string" &&
    (boot.language === "en" || boot.language === "pt") &&
    typeof boot.today === "string" &&
    (boot.queries === undefined || Array.isArray(boot.queries)) &&
    isSite(boot.site)
  );
}

function isSite(value: unknown): value is SiteTexts {
  const { name, privacySince, texts } = (value ?? {}) as Partial<SiteTexts>;
  return (
    typeof name === "string" &&
    typeof privacySince === "string" &&
    [texts?.en, texts?.pt].every((own) =>
      SITE_TEXT_KEYS.every((key) => typeof own?.[key] === "string"),
    )
  );
}
