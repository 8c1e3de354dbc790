import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import en from "@/locales/en.json";
import pt from "@/locales/pt.json";
import { type Language } from "@/lib/boot";

export type Key = keyof typeof en;
export type Vars = Record<string, string | number>;
export type Translate = (key: Key, vars?: Vars) => string;

const texts: Record<Language, Record<Key, string>> = { en, pt };

export function translator(language: Language): Translate {
  return (key, vars) =>
    vars
      ? texts[language][key].replace(/\{(\w+)\}/g, (mark, name: string) =>
          String(vars[name] ?? mark),
        )
      : texts[language][key];
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
      toggle: () => setLanguage((now) => (now === "en" ? "pt" : "en")),
      t: translator(language),
    }),
    [language],
  );
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

function useLanguageState(): LanguageState {
  const state = useContext(LanguageContext);
  if (!state) throw new Error("useT and useLanguage must be used within a LanguageProvider");
  return state;
}

export function useT(): Translate {
  return useLanguageState().t;
}

export function useLanguage(): { language: Language; toggle(): void } {
  return useLanguageState();
}
