import type { ReactNode } from "react";
import { useFormContext } from "react-hook-form";
import { TextSetting } from "@/features/admin-settings/components/text-setting";
import {
  COMMISSION_STATES,
  COMMISSION_TEXT_NAMES,
  stateKey,
  type CommissionTextName,
  type SettingsValues,
} from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/** The height of the text areas of each text, in lines. 0 means that the text has inputs of one line. */
const TEXT_ROWS: Record<CommissionTextName, number> = {
  accepts: 3,
  declines: 3,
  prices: 3,
  leadTime: 0,
  steps: 4,
  terms: 4,
};

/**
 * The fields of the settings page for what visitors read about commissions (works that clients order): whether new ones are accepted,
 * how many at once (slots), and the texts. `children` are rendered below the fields.
 */
export function CommissionsGroup({ children }: { children?: ReactNode }) {
  const t = useT();
  const { register, formState } = useFormContext<SettingsValues>();
  const slotsError = formState.errors.commissions?.slots?.message;
  return (
    <AdminGroup title={t("settings.group.commissions")} intro={t("settings.commissionsIntro")}>
      <SelectField
        label={t("settings.commissionsState")}
        className="max-w-[28em]"
        {...register("commissions.state")}
      >
        {COMMISSION_STATES.map((state) => (
          <option key={state} value={state}>
            {t(stateKey(state))}
          </option>
        ))}
      </SelectField>
      <TextField
        label={t("settings.commissionSlots")}
        hint={t("settings.commissionSlotsHint")}
        error={slotsError && t(slotsError as TextKey)}
        inputMode="numeric"
        optional
        className="max-w-[28em]"
        {...register("commissions.slots")}
      />
      {COMMISSION_TEXT_NAMES.map((name) => (
        <TextSetting
          key={name}
          label={t(`settings.commission.${name}`)}
          pathOf={(language) => `commissions.texts.${language}.${name}`}
          rows={TEXT_ROWS[name]}
        />
      ))}
      {children}
    </AdminGroup>
  );
}
