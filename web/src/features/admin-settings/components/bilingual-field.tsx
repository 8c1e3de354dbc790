import { useFormContext, useWatch } from "react-hook-form";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Badge } from "@/components/ui/badge";
import {
  TEXT_KEYS,
  type CommissionTextName,
  type SettingsValues,
  type TextName,
} from "@/features/admin-settings/schema";
import type { Language } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { LANGUAGES } from "@/lib/constants";
import { otherLanguage, useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import type { SettingsAnswer } from "@/lib/types";

type SharedProps = {
  /** Height of a text area in rows; without it or for 0 the input has one line. */
  rows?: number;
  /** The language that phones show; wider screens show both. */
  shownLanguage: Language;
};

type BilingualFieldProps = SharedProps & {
  name: TextName;
  /**
   * The stored settings. With them a text gets a hint while it is unchanged since the site was new (the seed).
   */
  seed?: SettingsAnswer;
};

/** The inputs of one of the texts that each page has. */
export function BilingualField({ name, seed, ...shared }: BilingualFieldProps) {
  const t = useT();
  const key = TEXT_KEYS[name];
  return (
    <BilingualInputs
      {...shared}
      label={t(`settings.text.${name}`)}
      pathOf={(language) => `texts.${language}.${name}`}
      hintOf={(language, text) =>
        seed?.seed.includes(`site.texts.${language}.${key}`) &&
        text === seed.settings.site.texts[language][key]
          ? t("guide.seedField")
          : undefined
      }
    />
  );
}

/** The form name of a text in one language. */
type TextPath =
  `texts.${Language}.${TextName}` | `commissions.texts.${Language}.${CommissionTextName}`;

type BilingualInputsProps = SharedProps & {
  label: string;
  pathOf(language: Language): TextPath;
  /** The hint of a text that is written; the others say what visitors see instead. */
  hintOf?(language: Language, text: string): string | undefined;
};

/**
 * The inputs of one text in both languages. If the text is missing in one language, the input is marked, and its hint says
 * what visitors see instead.
 */
export function BilingualInputs({ shownLanguage, ...input }: BilingualInputsProps) {
  return (
    <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
      {LANGUAGES.map((language) => (
        <TextInput
          key={language}
          {...input}
          language={language}
          className={language === shownLanguage ? undefined : "max-md:hidden"}
        />
      ))}
    </div>
  );
}

type TextInputProps = Omit<BilingualInputsProps, "shownLanguage"> & {
  language: Language;
  className?: string;
};

/** The input of the text in one language. */
function TextInput({ label, pathOf, hintOf, rows, language, className }: TextInputProps) {
  const t = useT();
  const { register, control, formState, getFieldState } = useFormContext<SettingsValues>();
  const other = otherLanguage(language);
  const path = pathOf(language);
  const [ownText, otherText] = useWatch({ control, name: [path, pathOf(other)] });
  const empty = ownText.trim() === "";
  const missing = empty && otherText.trim() !== "";
  const error = getFieldState(path, formState).error?.message as Key | undefined;
  const field = {
    label: `${label}, ${t(`settings.language.${language}`)}`,
    hint: missing
      ? t(other === "en" ? "settings.missing.en" : "settings.missing.pt")
      : empty
        ? t("settings.leftOut")
        : hintOf?.(language, ownText),
    error: error && t(error),
    lang: language,
    ...register(path),
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
