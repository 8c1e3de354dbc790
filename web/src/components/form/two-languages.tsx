import { useWatch, type FieldPath, type FieldValues, type UseFormReturn } from "react-hook-form";
import { ArrowLeft, ArrowRight } from "lucide-react";
import { LanguageField } from "@/components/form/language-field";
import { IconButton } from "@/components/ui/icon-button";
import type { Language } from "@/lib/boot";
import { useT } from "@/lib/i18n";

type TwoLanguagesProps<Values extends FieldValues> = {
  /** The form, from react-hook-form. */
  form: Pick<UseFormReturn<Values>, "register" | "control" | "setValue" | "setFocus">;
  /** The names of the two fields. */
  names: Record<Language, FieldPath<Values>>;
  label: string;
  /** Whether the English text is required. */
  required?: boolean;
  /** Whether the Portuguese field is marked as optional. */
  optional?: boolean;
  /** The message below each field. */
  errors?: Partial<Record<Language, string>>;
  /** The help below each field. */
  hints?: Partial<Record<Language, string>>;
  /** The help below both fields. */
  hint?: string;
  /** Suggestions, as placeholders. */
  placeholders?: Record<Language, string>;
  /** The height of text areas in lines; without it the fields have one line. */
  rows?: number;
  /** Classes of the text areas. */
  areaClassName?: string;
  maxLength?: number;
};

/**
 * Two fields for a text in English and in Portuguese, side by side where there is room. While only one field has a text, a button
 * between them copies that text into the empty field.
 */
export function TwoLanguages<Values extends FieldValues>({
  form: { register, control, setValue, setFocus },
  names,
  label,
  required,
  optional,
  errors,
  hints,
  hint,
  placeholders,
  rows,
  areaClassName,
  maxLength,
}: TwoLanguagesProps<Values>) {
  const t = useT();
  const watched: unknown = useWatch({ control, name: [names.en, names.pt] });
  const [en = "", pt = ""] = watched as (string | undefined)[];
  // The language of the empty field into which the other field's text can be copied; null if both or none are empty.
  const target = en.trim() && !pt.trim() ? "pt" : pt.trim() && !en.trim() ? "en" : null;

  function copyAcross() {
    if (!target) return;
    const text = (target === "pt" ? en : pt) as Parameters<typeof setValue>[1];
    setValue(names[target], text, { shouldDirty: true, shouldValidate: true });
    setFocus(names[target]);
  }

  const field = (language: Language) => (
    <LanguageField
      language={language}
      label={label}
      placeholder={placeholders?.[language]}
      rows={rows}
      areaClassName={areaClassName}
      maxLength={maxLength}
      error={errors?.[language]}
      hint={hints?.[language]}
      {...(language === "en" ? { required } : { optional })}
      {...register(names[language])}
    />
  );

  return (
    <div className="@container">
      <div className="grid items-start gap-x-1 @md:grid-cols-[minmax(0,1fr)_44px_minmax(0,1fr)]">
        {field("en")}
        {/* Where the fields are below each other, the button is at the end of the second label's line. */}
        <div className="relative h-5 @md:mt-[38px] @md:h-auto">
          <IconButton
            size="iconSm"
            variant="ghost"
            disabled={!target}
            className="disabled:invisible @max-md:absolute @max-md:top-1 @max-md:right-0"
            label={t(target === "en" ? "form.copyToEnglish" : "form.copyToPortuguese", { label })}
            onClick={copyAcross}
          >
            {target === "en" ? (
              <ArrowLeft
                aria-hidden="true"
                size={20}
                strokeWidth={1.5}
                className="@max-md:rotate-90"
              />
            ) : (
              <ArrowRight
                aria-hidden="true"
                size={20}
                strokeWidth={1.5}
                className="@max-md:rotate-90"
              />
            )}
          </IconButton>
        </div>
        {field("pt")}
      </div>
      {hint && <p className="text-ink2 mt-2 text-sm">{hint}</p>}
    </div>
  );
}
