import { useLanguage, useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

/** The button that switches the language. It shows the codes of both languages; the current one is bold and underlined. */
export function LanguageToggle({ className }: { className?: string }) {
  const t = useT();
  const { language, toggle } = useLanguage();
  const codeClasses = (code: "en" | "pt") =>
    cn(
      "relative",
      code === language &&
        "font-[680] after:absolute after:inset-x-0 after:-bottom-1 after:h-[3px] after:bg-current",
    );
  return (
    <button
      type="button"
      onClick={toggle}
      className={cn("nav-text inline-flex min-h-11 items-center gap-[7px] rounded-sm", className)}
    >
      <span className={codeClasses("en")}>EN</span>
      <span className={codeClasses("pt")}>PT</span>
      {/* The label is in the language that the button switches to. */}
      <span className="sr-only" lang={language === "en" ? "pt" : "en"}>
        {t("nav.switchLanguage")}
      </span>
    </button>
  );
}
