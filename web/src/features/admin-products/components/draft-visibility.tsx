import { VisibilityInputs } from "@/features/admin-products/components/visibility-inputs";
import {
  chooseVisibility,
  type Visibility,
  type VisibilityValues,
} from "@/features/admin-products/visibility";

type DraftVisibilityProps = {
  values: VisibilityValues;
  /** The error of the date and time. */
  error?: string;
  onChange(change: Partial<VisibilityValues>): void;
};

/** The fields of a draft that choose who sees its work. */
export function DraftVisibility({ values, error, onChange }: DraftVisibilityProps) {
  return (
    <VisibilityInputs
      className="grid gap-4"
      visibility={values.visibility}
      error={error}
      select={{
        value: values.visibility,
        onChange: ({ target }) =>
          onChange(chooseVisibility(target.value as Visibility, values.publish_at)),
      }}
      time={{
        value: values.publish_at,
        onChange: ({ target }) => onChange({ publish_at: target.value }),
      }}
    />
  );
}
