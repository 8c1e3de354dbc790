import { useFormContext, useWatch } from "react-hook-form";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Badge } from "@/components/ui/badge";
import { TEXT_KEYS, type SettingsValues, type TextName } from "@/features/admin-settings/schema";
import type { Language } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { LANGUAGES } from "@/lib/constants";
import { otherLanguage, useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import type { SettingsAnswer } from "@/lib/types";

type BilingualFieldProps = {
  name: TextName;
  /** Height of a text area in rows; without it or for 0 the input has one line. */
  rows?: number;
  /** The language that phones show; wider screens show both. */
  shownLanguage: Language;
  /**
   * The stored settings. With them a text gets a hint while it is unchanged since the site was new (the seed).
   */
  seed?: SettingsAnswer;
};

/**
 * The inputs of one text in both languages. If the text is missing in one language, the input is marked, and its hint says
 * what visitors see instead.
 */
export function BilingualField({ name, rows, shownLanguage, seed }: BilingualFieldProps) {
  return (
    <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
      {LANGUAGES.map((language) => (
        <TextInput
          key={language}
          {...{ name, rows, language, seed }}
          className={language === shownLanguage ? undefined : "max-md:hidden"}
        />
      ))}
    </div>
  );
}

type TextInputProps = Omit<BilingualFieldProps, "shownLanguage"> & {
  language: Language;
  className?: string;
};

/** The input of the text in one language. */
function TextInput({ name, rows, language, seed, className }: TextInputProps) {
  const t = useT();
  const { register, control, formState } = useFormContext<SettingsValues>();
  const other = otherLanguage(language);
  const [ownText, otherText] = useWatch({
    control,
    name: [`texts.${language}.${name}`, `texts.${other}.${name}`],
  });
  const empty = ownText.trim() === "";
  const missing = empty && otherText.trim() !== "";
  const key = TEXT_KEYS[name];
  const hasSeedText =
    seed?.seed.includes(`site.texts.${language}.${key}`) &&
    ownText === seed.settings.site.texts[language][key];
  const error = formState.errors.texts?.[language]?.[name]?.message as Key | undefined;
  const field = {
    label: `${t(`settings.text.${name}`)}, ${t(`settings.language.${language}`)}`,
    hint: missing
      ? t(other === "en" ? "settings.missing.en" : "settings.missing.pt")
      : empty
        ? t("settings.leftOut")
        : hasSeedText
          ? t("guide.seedField")
          : undefined,
    error: error && t(error),
    lang: language,
    ...register(`texts.${language}.${name}`),
  };
  return (
    <div className={cn("relative", className)}>
      {missing && (
        // Hidden from screen readers, because the hint says the same.
        <Badge tone="ochre" aria-hidden="true" className="absolute top-0 right-0">
          {t("settings.missing")}
        </Badge>
      )}
      {rows ? <TextAreaField {...field} rows={rows} /> : <TextField {...field} />}
    </div>
  );
}
