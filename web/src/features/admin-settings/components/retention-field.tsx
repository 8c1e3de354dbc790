import { useFormContext, useWatch } from "react-hook-form";
import { useOldMessageCount } from "@/features/admin-settings/api/count-old-messages";
import { MESSAGE_MONTHS, type SettingsValues } from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { useT } from "@/lib/i18n";

/**
 * The field that chooses for how many months messages are kept. 0 months means no limit. If the owner chooses another number than
 * the saved one (`stored`), the field says how many messages would be deleted at most.
 */
export function RetentionField({ stored }: { stored: number }) {
  const t = useT();
  const { register, control } = useFormContext<SettingsValues>();
  const months = Number(useWatch({ control, name: "messageMonths" }));
  const changed = months !== stored;
  const oldCount = useOldMessageCount(months, changed).data;
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
        {changed && oldCount ? t("settings.messageMonthsOld", { n: oldCount }) : ""}
      </p>
    </div>
  );
}
