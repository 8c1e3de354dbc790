import { useMemo } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { WhatsAppState } from "@/features/admin-settings/components/whatsapp-state";
import type { SettingsValues } from "@/features/admin-settings/schema";
import { countriesIn, countryNamed, movedTo, spaced } from "@/features/admin-settings/whatsapp";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { useLanguage, useT } from "@/lib/i18n";

type WhatsAppFieldsProps = { stored: string; error: string | undefined };

/** The WhatsApp number and its country. A change of either one updates the other. */
export function WhatsAppFields({ stored, error }: WhatsAppFieldsProps) {
  const t = useT();
  const { language } = useLanguage();
  const countries = useMemo(() => countriesIn(language), [language]);
  const { control, register, setValue, getValues, formState } = useFormContext<SettingsValues>();
  const [given, country] = useWatch({ control, name: ["whatsapp", "whatsappCountry"] });

  function write(number: string) {
    if (number === getValues("whatsapp")) return;
    setValue("whatsapp", number, { shouldValidate: formState.isSubmitted });
  }

  return (
    <>
      <SelectField
        label={t("settings.whatsappCountry")}
        {...register("whatsappCountry", {
          onChange: () => write(movedTo(getValues("whatsappCountry"), getValues("whatsapp"))),
          deps: "whatsapp",
        })}
      >
        <option value="">{t("settings.whatsappNoCountry")}</option>
        {countries.map(({ code, name, callingCode }) => (
          <option key={code} value={code}>
            {`${name} (${callingCode})`}
          </option>
        ))}
      </SelectField>
      <div>
        <TextField
          label="WhatsApp"
          hint={t("settings.whatsappHint")}
          error={error}
          inputMode="tel"
          {...register("whatsapp", {
            onChange: () => {
              const chosen = getValues("whatsappCountry");
              const named = countryNamed(getValues("whatsapp"), chosen);
              if (named && named !== chosen) setValue("whatsappCountry", named);
            },
            onBlur: () => write(spaced(getValues("whatsapp"), getValues("whatsappCountry"))),
          })}
        />
        <WhatsAppState {...{ given, country, stored }} />
      </div>
    </>
  );
}
