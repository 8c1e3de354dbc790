import type { ComponentProps } from "react";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import type { Language } from "@/lib/boot";
import { useT } from "@/lib/i18n";

type LanguageFieldProps = Omit<ComponentProps<typeof TextField>, "lang"> & {
  language: Language;
  /** The height of a text area in lines; without it the field has one line. */
  rows?: number;
  /** Classes of the text area. */
  areaClassName?: string;
};

/**
 * The field for one language of a text. The label of the Portuguese field names the language. The English field has the plain
 * label, and its language is shown at the end of the label's line.
 */
export function LanguageField({
  language,
  label,
  rows,
  areaClassName,
  ...input
}: LanguageFieldProps) {
  const t = useT();
  const isEnglish = language === "en";
  const props = {
    ...input,
    lang: language,
    label: isEnglish ? label : t("form.inPortuguese", { label }),
    "aria-description": isEnglish ? t("form.english") : undefined,
  };
  return (
    <div className="min-w-0">
      {isEnglish && (
        <span aria-hidden="true" className="label-text text-ink2 float-right font-[430]">
          {t("form.english")}
        </span>
      )}
      {rows ? (
        <TextAreaField
          {...(props as ComponentProps<typeof TextAreaField>)}
          rows={rows}
          className={areaClassName}
        />
      ) : (
        <TextField {...props} />
      )}
    </div>
  );
}
