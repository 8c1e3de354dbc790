import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { type Language } from "@/lib/boot";
import { hasLanguage, loadLanguage, textOf, type TextKey } from "@/lib/texts";
import { singleToast } from "@/lib/toast";

// The language of the page and its texts. Components use useLanguage and useT.

/** The values for the placeholders of a text, by name. */
type Vars = Record<string, string | number>;
/** Returns the text of a key. Each placeholder `{name}` is replaced by the value of that name. */
export type Translate = (key: TextKey, vars?: Vars) => string;

/** Makes the translate function of a language. */
export function translator(language: Language): Translate {
  return (key, vars) => {
    const text = textOf(language, key);
    if (!vars) return text;
    return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
      String(vars[name] ?? placeholder),
    );
  };
}

/** The other one of the two languages. */
export function otherLanguage(language: Language): Language {
  return language === "en" ? "pt" : "en";
}

/** The language of the page and its translate function `t`. `toggle` switches to the other language, once its texts have loaded. */
type LanguageState = { language: Language; toggle(): void; t: Translate };

const LanguageContext = createContext<LanguageState | null>(null);

/**
 * Provides the language of the page (useLanguage) and its texts (useT). A change of language is not stored: a reload uses
 * the server's choice again (docs/product.md, rule 19).
 */
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
            singleToast({
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
  // Screen readers and hyphenation use the lang attribute.
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

/** Renders its children in another language, for previews. The texts of that language must be loaded. */
export function LanguageScope({ language, children }: { language: Language; children: ReactNode }) {
  const state = useMemo<LanguageState>(
    () => ({ language, toggle: () => undefined, t: translator(language) }),
    [language],
  );
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

/** The value of the LanguageProvider. */
function useLanguageState(): LanguageState {
  const state = useContext(LanguageContext);
  if (!state) throw new Error("useT must be used within a LanguageProvider");
  return state;
}

/** The URL of a page of the site in the current language (docs/product.md, rule 19). */
export function useLocalizedUrl(path: string): string {
  return localizedUrl(useLanguageState().language, path);
}

/** Adds ?lang= to a path, except for English, which is the default. */
export function localizedUrl(language: Language, path: string): string {
  if (language === "en") return path;
  const [, pathAndQuery, hash = ""] = /^([^#]*)(#.*)?$/.exec(path)!;
  const separator = pathAndQuery!.includes("?") ? (pathAndQuery!.endsWith("?") ? "" : "&") : "?";
  return `${pathAndQuery}${separator}lang=${language}${hash}`;
}

/** The translate function of the page's language. */
export function useT(): Translate {
  return useLanguageState().t;
}

/** The language of the page, a function that switches to the other one, and the translate function. */
export function useLanguage(): LanguageState {
  return useLanguageState();
}
