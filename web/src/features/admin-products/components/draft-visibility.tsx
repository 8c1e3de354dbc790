import {
  tomorrowMorning,
  VISIBILITIES,
  type Visibility,
  type VisibilityValues,
} from "@/features/admin-products/visibility";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { useT } from "@/lib/i18n";

type DraftVisibilityProps = {
  values: VisibilityValues;
  /** The error of the date and time. */
  error?: string;
  onChange(change: Partial<VisibilityValues>): void;
};

/** The fields that choose who sees the work of a draft, with the choices and hints of the form of a work. */
export function DraftVisibility({ values, error, onChange }: DraftVisibilityProps) {
  const t = useT();
  const { visibility } = values;
  return (
    <div className="grid gap-4">
      <SelectField
        label={t("products.visibility")}
        hint={t(`products.${visibility}Hint`)}
        value={visibility}
        onChange={({ target }) => onChange(chosen(target.value as Visibility, values.publish_at))}
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
          value={values.publish_at}
          error={error}
          hint={t("products.publishAtHint", {
            zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
          })}
          onChange={({ target }) => onChange({ publish_at: target.value })}
        />
      )}
    </div>
  );
}

/** The values for a chosen visibility: a scheduled work starts with a time. */
export const chosen = (visibility: Visibility, publishAt: string): Partial<VisibilityValues> =>
  visibility === "scheduled" && !publishAt
    ? { visibility, publish_at: tomorrowMorning() }
    : { visibility };
