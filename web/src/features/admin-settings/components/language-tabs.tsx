import type { Language } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { LANGUAGES } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type LanguageTabsProps = {
  /** The language that phones show. */
  shownLanguage: Language;
  /** Number of missing texts by language. */
  missing: Record<Language, number>;
  onShowLanguage(language: Language): void;
};

/** Buttons that choose the language of the texts on phones. Wider screens show both languages side by side. */
export function LanguageTabs({ shownLanguage, missing, onShowLanguage }: LanguageTabsProps) {
  const t = useT();
  return (
    <div role="group" aria-label={t("settings.languages")} className="flex md:hidden">
      {LANGUAGES.map((language) => (
        <button
          key={language}
          type="button"
          aria-pressed={language === shownLanguage}
          onClick={() => onShowLanguage(language)}
          className={cn(
            "nav-text min-h-12 flex-1 border-b-6 px-2 pt-1.5 transition-colors duration-200",
            language === shownLanguage ? "border-band text-ink" : "border-line text-ink2",
          )}
        >
          {t(`settings.language.${language}`)}
          {missing[language] > 0 && (
            <span className="text-badge block">
              {t("settings.missingCount", { n: missing[language] })}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
