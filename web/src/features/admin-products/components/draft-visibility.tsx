import { VisibilityInputs } from "@/features/admin-products/components/visibility-inputs";
import {
  chooseVisibility,
  type Visibility,
  type VisibilityValues,
} from "@/features/admin-products/visibility";

type DraftVisibilityProps = {
  values: VisibilityValues;
  /** The error text of the date and time of publication. */
  error?: string;
  onChange(change: Partial<VisibilityValues>): void;
};

/** The fields that choose who will see the work that is made from a draft (a new work that is not stored yet). */
export function DraftVisibility({ values, error, onChange }: DraftVisibilityProps) {
  return (
    <VisibilityInputs
      className="grid gap-4"
      visibility={values.visibility}
      timeError={error}
      selectProps={{
        value: values.visibility,
        onChange: ({ target }) =>
          onChange(chooseVisibility(target.value as Visibility, values.publish_at)),
      }}
      timeProps={{
        value: values.publish_at,
        onChange: ({ target }) => onChange({ publish_at: target.value }),
      }}
    />
  );
}
