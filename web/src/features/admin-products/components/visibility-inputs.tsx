import type { ComponentProps } from "react";
import { VISIBILITIES, type Visibility } from "@/features/admin-products/visibility";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { useT } from "@/lib/i18n";

type VisibilityInputsProps = {
  visibility: Visibility;
  /** The error text below the input of the date and time. */
  timeError?: string;
  /** Props of the select element: its name or value, and its handlers. */
  selectProps: Omit<ComponentProps<"select">, "id" | "required">;
  /** Props of the input of the date and time. */
  timeProps: Omit<ComponentProps<"input">, "id" | "required">;
  className: string;
};

/**
 * The inputs that choose who sees a work: everyone, everyone from a date and time on, or the owner alone. VisibilityFields connects them
 * with the form of a work, and DraftVisibility with a draft.
 */
export function VisibilityInputs({
  visibility,
  timeError,
  selectProps,
  timeProps,
  className,
}: VisibilityInputsProps) {
  const t = useT();
  return (
    <div className={className}>
      <SelectField
        label={t("products.visibility")}
        hint={t(`products.${visibility}Hint`)}
        {...selectProps}
      >
        <VisibilityOptions />
      </SelectField>
      {visibility === "scheduled" && (
        <TextField
          type="datetime-local"
          label={t("products.publishAt")}
          required
          error={timeError}
          hint={t("products.publishAtHint", {
            zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
          })}
          {...timeProps}
        />
      )}
    </div>
  );
}

/** The options of a select element for the visibility. */
export function VisibilityOptions() {
  const t = useT();
  return VISIBILITIES.map((visibility) => (
    <option key={visibility} value={visibility}>
      {t(`products.${visibility}`)}
    </option>
  ));
}
