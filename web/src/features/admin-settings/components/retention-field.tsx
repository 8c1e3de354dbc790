import { useFormContext, useWatch } from "react-hook-form";
import { useOldMessages } from "@/features/admin-settings/api/count-old-messages";
import { MESSAGE_MONTHS, type SettingsValues } from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { useT } from "@/lib/i18n";

/** The choice of how long messages are kept. Before a shorter time is saved it says how many messages that removes. */
export function RetentionField({ stored }: { stored: number }) {
  const t = useT();
  const { register, control } = useFormContext<SettingsValues>();
  const months = Number(useWatch({ control, name: "messageMonths" }));
  const changed = months !== stored;
  const old = useOldMessages(months, changed).data;
  return (
    <div>
      <SelectField
        label={t("settings.messageMonths")}
        hint={t("settings.messageMonthsHint")}
        {...register("messageMonths")}
      >
        {MESSAGE_MONTHS.map((option) => (
          <option key={option} value={option}>
            {option === 0
              ? t("settings.messageMonthsForever")
              : t("settings.messageMonthsOption", { n: option })}
          </option>
        ))}
      </SelectField>
      <p role="status" className="text-danger mt-1 text-sm font-[520] empty:hidden">
        {changed && old ? t("settings.messageMonthsOld", { n: old }) : ""}
      </p>
    </div>
  );
}
