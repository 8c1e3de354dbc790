import { createContext, useContext } from "react";
import type { GalleryFilter, GallerySettings } from "@/lib/gallery-settings";
import type { MediaInfo } from "@/lib/media";

// The boot data: what the server embeds as JSON in each page, so that the page's scripts need not request it.

/** A language of the site, as an ISO 639-1 code. */
export type Language = "en" | "pt";

/** The keys of the texts that the owner writes. They are part of the site's settings, not of the locale files. */
export const SITE_TEXT_KEYS = [
  "about.title",
  "about.description",
  "about.description2",
  "about.portraitAlt",
  "testimonials.trustedBy",
  "contact.responseTime",
  "contact.success.body",
] as const;
/** One of SITE_TEXT_KEYS. */
export type SiteTextKey = (typeof SITE_TEXT_KEYS)[number];

/**
 * The owner's texts of the privacy page, by section. If the owner leaves a section empty, the page shows the program's text
 * (docs/product.md, rule 21).
 */
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

/** Whether the artist takes commissions (makes works to order); "" if the site does not say. */
export type CommissionState = "" | "open" | "waitlist" | "closed";

/** The owner's texts about commissions in one language. */
export type CommissionTexts = {
  /** What commissions the artist accepts. */
  accepts: string;
  /** What commissions the artist declines. */
  declines: string;
  prices: string;
  /** How long a commission takes. */
  leadTime: string;
  /** The steps of a commission, one per line. */
  steps: string;
  terms: string;
};

/**
 * The settings about commissions. A slot is room for one commission. The owner's settings form gets the number of all slots. The boot
 * data has the number of free slots instead.
 */
export type CommissionSettings = {
  state: CommissionState;
  texts: Record<Language, CommissionTexts>;
  /** How many commissions the artist works on at a time. Missing if there is no limit, and in the boot data. */
  slots?: number;
  /** How many slots are free. Only in the boot data; missing if there is no limit or commissions are not open. */
  free?: number;
};

/** The public part of the site's settings. */
export type SiteTexts = {
  name: string;
  instagram?: string;
  facebook?: string;
  whatsapp?: string;
  email?: string;
  /** URL of the portrait beside the about text. */
  portrait?: string;
  /** The day on which the privacy text came into force, YYYY-MM-DD. */
  privacySince: string;
  /** The sections of the privacy page that the owner has written; the others come from the locale files. */
  privacy?: Partial<PrivacyTexts>;
  texts: Record<Language, Record<SiteTextKey, string>>;
  gallery: GallerySettings;
  /** The number of months for which messages are kept; missing if they are kept until the owner deletes them. */
  messageMonths?: number;
  /** Missing if nothing is set. In pages also missing if the owner has chosen that pages say nothing about commissions. */
  commissions?: CommissionSettings;
  /** Whether visitors get a private link to follow their message. Missing in pages. */
  enquiryLinks?: boolean;
  /** Whether visitors with a private link are mailed a copy of their message. Missing in pages. */
  enquiryCopies?: boolean;
  /** Whether pages have the measured response time as the text contact.responseTime. Missing in pages. */
  responseTime?: "" | "measured";
};

/**
 * The boot data: the JSON that the server embeds in the page for hydration. The first render depends only on the boot data and the
 * path, so that server and browser render the same HTML.
 */
export type Boot = {
  /** Origin of the backend's URLs. */
  apiUrl: string;
  /** The public key of anonymous callers. */
  anonKey: string;
  language: Language;
  /** Whether the admin area requires a second factor. */
  secondFactorRequired?: boolean;
  /** The maximum number of days for which backups keep what was deleted; missing without backups. */
  backupDays?: number;
  /** The date on the server, YYYY-MM-DD. */
  today: string;
  site: SiteTexts;
  /** Metadata of the portrait's file. */
  media?: MediaInfo;
  /** Whether there are visible reviews. A missing value means true. */
  hasReviews?: boolean;
  /** The types without a filter button: they have no works, and the owner has chosen to hide such types. */
  empty?: GalleryFilter[];
  /** Id of the work that ?art= names. The server passes it on, because its router sees no query string. */
  art?: string;
  /** The page of reviews that ?reviews= names, from 1, for browsers without scripts. */
  reviewsPage?: number;
  /** Whether ?art= names a work that does not exist. */
  noWork?: boolean;
  /** The slug of the series that ?series= names. */
  series?: string;
  /** Whether ?series= names a series that does not exist. */
  noSeries?: boolean;
  /** Data of the page's queries, so that the first render makes no request. */
  queries?: PrefetchedQuery[];
};

/**
 * A query key (lib/query-keys.ts) and the data as the query function returns them. `cut` says that rows are missing from the
 * data, because they would have made the page large.
 */
export type PrefetchedQuery = [key: readonly unknown[], data: unknown, cut?: boolean];

const BootContext = createContext<Boot | null>(null);

/** Provides the value of useBoot. */
export const BootProvider = BootContext.Provider;

/** The boot data of the page. */
export function useBoot(): Boot {
  const boot = useContext(BootContext);
  if (!boot) throw new Error("useBoot must be used within a BootProvider");
  return boot;
}

/** Replaces the settings after a save. This tab shows them from the next render on, other tabs after a reload. */
export function replaceSite(boot: Boot, site: SiteTexts): void {
  boot.site = site;
}

/** Parses the boot data from the text of the page's boot element. @throws if they are missing or invalid. */
export function parseBoot(text: string | null | undefined): Boot {
  const value: unknown = JSON.parse(text || "null");
  if (!isBoot(value)) throw new Error("The boot data is not valid");
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
