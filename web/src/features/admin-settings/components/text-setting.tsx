import { useFormContext, useWatch } from "react-hook-form";
import { TwoLanguages } from "@/components/form/two-languages";
import type {
  CommissionTextName,
  SettingsValues,
  TextName,
} from "@/features/admin-settings/schema";
import type { Language } from "@/lib/boot";
import { otherLanguage, useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/** The name of the form field for a text in one language, such as "texts.en.title". */
type TextPath =
  `texts.${Language}.${TextName}` | `commissions.texts.${Language}.${CommissionTextName}`;

type TextSettingProps = {
  label: string;
  /** Returns the name of the form field for the text in a language. */
  pathOf(this: void, language: Language): TextPath;
  /** The height of the text areas in lines. If it is 0 or missing, the text has inputs of one line. */
  rows?: number;
  /** Returns the hint for a text that is not empty, or undefined for no hint. */
  hintOf?(this: void, language: Language, text: string): string | undefined;
};

/**
 * The two fields, one for each language, of a setting that is a text of the owner. The hint of an empty field says what visitors see
 * in its place.
 */
export function TextSetting({ label, pathOf, rows, hintOf }: TextSettingProps) {
  const t = useT();
  const form = useFormContext<SettingsValues>();
  const names = { en: pathOf("en"), pt: pathOf("pt") };
  const [en, pt] = useWatch({ control: form.control, name: [names.en, names.pt] });
  const texts = { en, pt };
  const errorOf = (language: Language) => {
    const key = form.getFieldState(names[language], form.formState).error?.message;
    return key && t(key as TextKey);
  };
  function helpOf(language: Language): string | undefined {
    const other = otherLanguage(language);
    if (texts[language].trim() !== "") return hintOf?.(language, texts[language]);
    if (texts[other].trim() === "") return t("settings.leftOut");
    return t(other === "en" ? "settings.missing.en" : "settings.missing.pt");
  }
  return (
    <TwoLanguages
      form={form}
      names={names}
      label={label}
      rows={rows}
      errors={{ en: errorOf("en"), pt: errorOf("pt") }}
      hints={{ en: helpOf("en"), pt: helpOf("pt") }}
    />
  );
}
