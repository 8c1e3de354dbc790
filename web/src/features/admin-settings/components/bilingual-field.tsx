import { useFormContext, useWatch } from "react-hook-form";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Badge } from "@/components/ui/badge";
import type { SettingsValues, TextName } from "@/features/admin-settings/schema";
import type { Language } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { LANGUAGES } from "@/lib/constants";
import { otherLanguage, useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";

type BilingualFieldProps = {
  name: TextName;
  /** Rows of a text of several lines; one line otherwise. */
  rows?: number;
  /** The language that a phone shows. */
  shown: Language;
};

/** One text in both languages, with a mark where one is missing and what visitors see there instead. */
export function BilingualField({ name, rows, shown }: BilingualFieldProps) {
  return (
    <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
      {LANGUAGES.map((language) => (
        <Text
          key={language}
          {...{ name, rows, language }}
          className={language === shown ? undefined : "max-md:hidden"}
        />
      ))}
    </div>
  );
}

type TextProps = { name: TextName; rows?: number; language: Language; className?: string };

function Text({ name, rows, language, className }: TextProps) {
  const t = useT();
  const { register, control, formState } = useFormContext<SettingsValues>();
  const other = otherLanguage(language);
  const [own, others] = useWatch({
    control,
    name: [`texts.${language}.${name}`, `texts.${other}.${name}`],
  });
  const empty = own.trim() === "";
  const missing = empty && others.trim() !== "";
  const error = formState.errors.texts?.[language]?.[name]?.message as Key | undefined;
  const field = {
    label: `${t(`settings.text.${name}`)}, ${t(`settings.language.${language}`)}`,
    hint: missing
      ? t(other === "en" ? "settings.missing.en" : "settings.missing.pt")
      : empty
        ? t("settings.leftOut")
        : undefined,
    error: error && t(error),
    lang: language,
    ...register(`texts.${language}.${name}`),
  };
  return (
    <div className={cn("relative", className)}>
      {missing && (
        // The hint says it; the patch only catches the eye.
        <Badge tone="ocre" aria-hidden="true" className="absolute top-0 right-0">
          {t("settings.missing")}
        </Badge>
      )}
      {rows ? <TextAreaField {...field} rows={rows} /> : <TextField {...field} />}
    </div>
  );
}
