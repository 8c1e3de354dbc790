import { useFormContext, useWatch } from "react-hook-form";
import { BilingualInputs } from "@/features/admin-settings/components/bilingual-field";
import { LanguageTabs } from "@/features/admin-settings/components/language-tabs";
import type { FieldsProps } from "@/features/admin-settings/components/settings-form";
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
import type { Language } from "@/lib/boot";
import { otherLanguage, useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";

/** The height of each text's input in rows; 0 is an input of one line. */
const ROWS: Record<CommissionTextName, number> = {
  accepts: 3,
  declines: 3,
  prices: 3,
  leadTime: 0,
  steps: 4,
  terms: 4,
};

/** The settings of what visitors are told about commissions. */
export function CommissionsGroup({
  shownLanguage,
  onShowLanguage,
}: Pick<FieldsProps, "shownLanguage" | "onShowLanguage">) {
  const t = useT();
  const { register, control, formState } = useFormContext<SettingsValues>();
  const { texts } = useWatch({ control, name: "commissions" });
  const slotsError = formState.errors.commissions?.slots?.message;
  const missing = (language: Language) =>
    COMMISSION_TEXT_NAMES.filter(
      (name) =>
        texts[language][name].trim() === "" && texts[otherLanguage(language)][name].trim() !== "",
    ).length;
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
        error={slotsError && t(slotsError as Key)}
        inputMode="numeric"
        optional
        className="max-w-[28em]"
        {...register("commissions.slots")}
      />
      <LanguageTabs
        shownLanguage={shownLanguage}
        missing={{ en: missing("en"), pt: missing("pt") }}
        onShowLanguage={onShowLanguage}
      />
      {COMMISSION_TEXT_NAMES.map((name) => (
        <BilingualInputs
          key={name}
          label={t(`settings.commission.${name}`)}
          pathOf={(language) => `commissions.texts.${language}.${name}`}
          rows={ROWS[name]}
          shownLanguage={shownLanguage}
        />
      ))}
    </AdminGroup>
  );
}
