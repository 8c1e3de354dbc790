import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { SITE_TEXT_KEYS } from "@/lib/boot";
import type { TextBundle } from "@/lib/texts";
import adminEn from "@/locales/admin/en.json";
import adminPt from "@/locales/admin/pt.json";
import commissionsEn from "@/locales/commissions/en.json";
import commissionsPt from "@/locales/commissions/pt.json";
import enquiryEn from "@/locales/enquiry/en.json";
import enquiryPt from "@/locales/enquiry/pt.json";
import sentEn from "@/locales/sent/en.json";
import sentPt from "@/locales/sent/pt.json";
import siteEn from "@/locales/en.json";
import galleryEn from "@/locales/gallery/en.json";
import galleryPt from "@/locales/gallery/pt.json";
import notFoundEn from "@/locales/not-found/en.json";
import notFoundPt from "@/locales/not-found/pt.json";
import privacy from "@/locales/privacy.json";
import sessionEn from "@/locales/session/en.json";
import sessionPt from "@/locales/session/pt.json";
import sitePt from "@/locales/pt.json";
import seriesEn from "@/locales/series/en.json";
import seriesPt from "@/locales/series/pt.json";
import workEn from "@/locales/work/en.json";
import workPt from "@/locales/work/pt.json";

const parts: Record<
  | TextBundle
  | "series"
  | "work"
  | "commissions"
  | "enquiry"
  | "gallery"
  | "notFound"
  | "session"
  | "sent",
  Record<"en" | "pt", Record<string, string>>
> = {
  site: { en: siteEn, pt: sitePt },
  admin: { en: adminEn, pt: adminPt },
  privacy: { en: privacy, pt: privacy },
  series: { en: seriesEn, pt: seriesPt },
  work: { en: workEn, pt: workPt },
  commissions: { en: commissionsEn, pt: commissionsPt },
  enquiry: { en: enquiryEn, pt: enquiryPt },
  gallery: { en: galleryEn, pt: galleryPt },
  notFound: { en: notFoundEn, pt: notFoundPt },
  session: { en: sessionEn, pt: sessionPt },
  sent: { en: sentEn, pt: sentPt },
};
const en: Record<string, string> = {
  ...siteEn,
  ...adminEn,
  ...privacy,
  ...seriesEn,
  ...workEn,
  ...commissionsEn,
  ...enquiryEn,
  ...galleryEn,
  ...notFoundEn,
  ...sessionEn,
  ...sentEn,
};
const pt: Record<string, string> = {
  ...sitePt,
  ...adminPt,
  ...privacy,
  ...seriesPt,
  ...workPt,
  ...commissionsPt,
  ...enquiryPt,
  ...galleryPt,
  ...notFoundPt,
  ...sessionPt,
  ...sentPt,
};
const keys = Object.keys(en);

const sources = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.{ts,tsx}"], {
  query: "?raw",
  import: "default",
  eager: true,
});
// Paths in the form of the alias: "@/lib/texts.ts".
const modules = new Map(
  Object.entries(sources).map(([path, text]) => [posix.join("@/locales", path), text]),
);
const code = [...modules.values()].join("\n");

const literalsIn = (text: string) =>
  new Set([...text.matchAll(/["'`]([a-z][\w]*(?:\.\w+)+)["'`]/g)].map((m) => m[1]!));
// Keys whose end comes from data: `type.${artwork_type}` uses each key that starts with "type.". Query operators
// (`eq.${id}`) and paths of form fields look the same.
const prefixesIn = (text: string) =>
  [...text.matchAll(/`([a-z][\w]*\.(?:[\w.]*\.)?)\$\{/g)]
    .map((m) => m[1]!)
    .filter((prefix) => !/^(eq|not\.in|(site\.|commissions\.)?texts)\.$/.test(prefix));

/** The keys that the source uses. */
function usedIn(text: string, candidates: readonly string[]): string[] {
  const literals = literalsIn(text);
  const prefixes = prefixesIn(text);
  return candidates.filter(
    (key) => literals.has(key) || prefixes.some((prefix) => key.startsWith(prefix)),
  );
}

/** All modules imported by these entries, statically or dynamically, except those whose path matches `stop`. */
function reachableModules(entries: string[], stop: RegExp): string[] {
  const reached = new Set(entries);
  for (const path of reached) {
    const imports = modules.get(path)!.matchAll(/(?:from|import)\s*\(?\s*"(@\/[^"]+)"/g);
    for (const [, source] of imports) {
      const target = [".ts", ".tsx"].map((end) => source! + end).find((name) => modules.has(name));
      if (target && !stop.test(target)) reached.add(target);
    }
  }
  return [...reached];
}

describe("locales", () => {
  it("S4-lang-1: have the same keys in the same order", () => {
    for (const part of Object.values(parts)) {
      expect(Object.keys(part.pt)).toEqual(Object.keys(part.en));
    }
  });

  it("have each key once, and none of the owner's texts", () => {
    const all = [...Object.values(parts).flatMap((p) => Object.keys(p.en)), ...SITE_TEXT_KEYS];
    expect(all.filter((key, n) => all.indexOf(key) !== n)).toEqual([]);
  });

  it("have no empty text", () => {
    for (const texts of [en, pt]) {
      expect(Object.entries(texts).filter(([, text]) => text.trim() === "")).toEqual([]);
    }
  });

  it("use the same placeholders in both languages", () => {
    // English builds the plural as {kind}s, Portuguese needs its own word.
    const marks = (text: string) =>
      [...new Set(text.match(/\{\w+\}/g)?.map((m) => m.replace("{kinds}", "{kind}")))].sort();
    for (const key of keys) expect(marks(pt[key]!), key).toEqual(marks(en[key]!));
  });

  it("have no unused key", () => {
    const used = usedIn(code, keys);
    expect(keys.filter((key) => !used.includes(key))).toEqual([]);
    const usedKeys = [...code.matchAll(/useSiteText\(\s*"([^"]+)"/g)].map((m) => m[1]!);
    expect(new Set(usedKeys)).toEqual(new Set(SITE_TEXT_KEYS));
  });

  it("have every key that the code uses", () => {
    // The type of t() refuses unknown literals; this catches keys built from data.
    const missing = prefixesIn(code).filter(
      (prefix) => !keys.some((key) => key.startsWith(prefix)),
    );
    expect(missing).toEqual([]);
    const groups = new Set(keys.map((key) => key.split(".")[0]));
    const usedKeys = [...code.matchAll(/\bt\(\s*["'`]([\w.]+)["'`]/g)].map((m) => m[1]!);
    expect(usedKeys.filter((key) => groups.has(key.split(".")[0]) && !keys.includes(key))).toEqual(
      [],
    );
  });
});

describe("the text bundles", () => {
  const adminPages = /^@\/(features\/admin-|app\/routes\/(admin|auth)\/)/;
  const privacyPage = /^@\/app\/routes\/public\/privacy/;
  const foreign = (paths: string[], candidates: readonly string[]) =>
    paths.flatMap((path) => usedIn(modules.get(path)!, candidates).map((key) => `${path}: ${key}`));

  it("site: contains the texts of the public pages", () => {
    const stop = new RegExp(`${adminPages.source}|${privacyPage.source}`);
    const paths = reachableModules(["@/entry-client.tsx"], stop);
    expect(paths).toContain("@/features/contact/components/contact-form.tsx");
    expect(foreign(paths, Object.keys({ ...adminEn, ...privacy }))).toEqual([]);
  });

  it("privacy: contains the texts of the privacy page", () => {
    const paths = reachableModules(["@/app/routes/public/privacy.tsx"], adminPages);
    expect(
      usedIn(modules.get("@/features/privacy/components/privacy-page.tsx")!, keys),
    ).not.toEqual([]);
    expect(foreign(paths, Object.keys(adminEn))).toEqual([]);
  });

  // The settings edit the privacy page's texts and load them too.
  const settingsPage = /^@\/(features\/admin-settings|app\/routes\/admin\/settings)/;

  it("admin: contains the texts of the admin pages", () => {
    const paths = [...modules.keys()].filter(
      (path) => adminPages.test(path) && !settingsPage.test(path),
    );
    expect(paths.length).toBeGreaterThan(20);
    expect(foreign(reachableModules(paths, privacyPage), Object.keys(privacy))).toEqual([]);
  });
});
