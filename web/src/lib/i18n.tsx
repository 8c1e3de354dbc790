import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { type Language } from "@/lib/boot";
import { hasLanguage, loadLanguage, textOf, type Key } from "@/lib/texts";
import { helperToast } from "@/lib/toast";

export type Vars = Record<string, string | number>;
export type Translate = (key: Key, vars?: Vars) => string;

export function translator(language: Language): Translate {
  return (key, vars) => {
    const text = textOf(language, key);
    if (!vars) return text;
    return text.replace(/\{(\w+)\}/g, (mark, name: string) => String(vars[name] ?? mark));
  };
}

export function otherLanguage(language: Language): Language {
  return language === "en" ? "pt" : "en";
}

type LanguageState = { language: Language; toggle(): void; t: Translate };

const LanguageContext = createContext<LanguageState | null>(null);

/** The choice lives in memory only (specification §4); a reload starts from the server's value again. */
export function LanguageProvider({
  initial,
  children,
}: {
  initial: Language;
  children: ReactNode;
}) {
  const [language, setLanguage] = useState(initial);
  const state = useMemo<LanguageState>(
    () => ({
      language,
      toggle() {
        const next = otherLanguage(language);
        if (hasLanguage(next)) {
          setLanguage(next);
          return;
        }
        loadLanguage(next).then(
          () => setLanguage(next),
          () =>
            helperToast({
              title: textOf(language, "common.error"),
              description: textOf(language, "auth.unexpected"),
              destructive: true,
            }),
        );
      },
      t: translator(language),
    }),
    [language],
  );
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

/** A piece of a page in a language of its own, such as a preview; its texts must have been loaded. */
export function LanguageScope({ language, children }: { language: Language; children: ReactNode }) {
  const state = useMemo<LanguageState>(
    () => ({ language, toggle: () => undefined, t: translator(language) }),
    [language],
  );
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

function useLanguageState(): LanguageState {
  const state = useContext(LanguageContext);
  if (!state) throw new Error("useT and useLanguage must be used within a LanguageProvider");
  return state;
}

/** An address inside the site as it stands alone, in the language that is shown now (READING §3.5). */
export function useAddress(path: string): string {
  return addressIn(useLanguageState().language, path);
}

export function addressIn(language: Language, path: string): string {
  if (language === "en") return path;
  const [, address, hash = ""] = /^([^#]*)(#.*)?$/.exec(path)!;
  const joint = address!.includes("?") ? (address!.endsWith("?") ? "" : "&") : "?";
  return `${address}${joint}lang=${language}${hash}`;
}

export function useT(): Translate {
  return useLanguageState().t;
}

export function useLanguage(): { language: Language; toggle(): void } {
  return useLanguageState();
}
