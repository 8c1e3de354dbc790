import { useFormContext } from "react-hook-form";
import type { ProductValues } from "@/features/admin-products/schema";
import {
  tomorrowMorning,
  VISIBILITIES,
  type Visibility,
} from "@/features/admin-products/visibility";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";

/** The fields that choose who sees a work: everyone, everyone from a date and time on, or the owner alone. */
export function VisibilityFields() {
  const t = useT();
  const { register, watch, setValue, getValues, formState } = useFormContext<ProductValues>();
  const visibility = watch("visibility");
  const error = formState.errors.publish_at?.message as Key | undefined;
  return (
    <div className="grid items-start gap-x-[22px] gap-y-6 sm:grid-cols-2">
      <SelectField
        label={t("products.visibility")}
        hint={t(`products.${visibility}Hint`)}
        {...register("visibility", {
          onChange: (event: { target: { value: Visibility } }) => {
            if (event.target.value === "scheduled" && !getValues("publish_at"))
              setValue("publish_at", tomorrowMorning(), { shouldDirty: true });
          },
        })}
      >
        {VISIBILITIES.map((choice) => (
          <option key={choice} value={choice}>
            {t(`products.${choice}`)}
          </option>
        ))}
      </SelectField>
      {visibility === "scheduled" && (
        <TextField
          type="datetime-local"
          label={t("products.publishAt")}
          required
          error={error && t(error)}
          hint={t("products.publishAtHint", {
            zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
          })}
          {...register("publish_at")}
        />
      )}
    </div>
  );
}
