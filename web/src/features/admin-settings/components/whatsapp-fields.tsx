import { useMemo } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { WhatsAppState } from "@/features/admin-settings/components/whatsapp-state";
import type { SettingsValues } from "@/features/admin-settings/schema";
import {
  countriesIn,
  countryOfNumber,
  withCallingCode,
  formatNumber,
} from "@/features/admin-settings/whatsapp";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { useLanguage, useT } from "@/lib/i18n";

type WhatsAppFieldsProps = {
  /** The stored number or URL; "" if there is none. */
  stored: string;
  /** The error text of the number, if it is invalid. */
  error: string | undefined;
};

/**
 * The inputs of the site's WhatsApp number and its country. A chosen country sets the calling code of the number. A typed calling
 * code chooses the country.
 */
export function WhatsAppFields({ stored, error }: WhatsAppFieldsProps) {
  const t = useT();
  const { language } = useLanguage();
  const countries = useMemo(() => countriesIn(language), [language]);
  const { control, register, setValue, getValues, formState } = useFormContext<SettingsValues>();
  const [value, country] = useWatch({ control, name: ["whatsapp", "whatsappCountry"] });

  function setNumber(number: string) {
    if (number === getValues("whatsapp")) return;
    setValue("whatsapp", number, { shouldValidate: formState.isSubmitted });
  }

  return (
    <>
      <SelectField
        label={t("settings.whatsappCountry")}
        {...register("whatsappCountry", {
          onChange: () =>
            setNumber(withCallingCode(getValues("whatsappCountry"), getValues("whatsapp"))),
          deps: "whatsapp", // the number is validated again when the country changes
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
              const numberCountry = countryOfNumber(getValues("whatsapp"), chosen);
              if (numberCountry && numberCountry !== chosen)
                setValue("whatsappCountry", numberCountry);
            },
            onBlur: () =>
              setNumber(formatNumber(getValues("whatsapp"), getValues("whatsappCountry"))),
          })}
        />
        <WhatsAppState value={value} country={country} stored={stored} />
      </div>
    </>
  );
}
