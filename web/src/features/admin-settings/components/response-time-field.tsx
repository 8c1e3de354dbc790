import { useFormContext } from "react-hook-form";
import type { SettingsValues } from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { useLanguage, useT } from "@/lib/i18n";
import type { MeasuredResponse } from "@/lib/types";

/**
 * The field that chooses what visitors read about the response time: the text that the owner has written, or the measured time.
 * `measured` has the measured time as a text, and the number of answers from which it was computed. It is undefined if the
 * settings come from a draft that lacks it.
 */
export function ResponseTimeField({ measured }: { measured: MeasuredResponse | undefined }) {
  const t = useT();
  const { register } = useFormContext<SettingsValues>();
  const { language } = useLanguage();
  const n = measured?.answers ?? 0;
  const text = measured?.[language];
  return (
    <SelectField
      label={t("settings.responseTime")}
      hint={text ? t("settings.responseNow", { n, text }) : t("settings.responseFew", { n })}
      className="max-w-[28em]"
      {...register("responseTime")}
    >
      <option value="">{t("settings.responseWritten")}</option>
      <option value="measured">{t("settings.responseMeasured")}</option>
    </SelectField>
  );
}
