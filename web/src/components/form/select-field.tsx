import type { ComponentProps } from "react";
import { ChevronDown } from "lucide-react";
import { Field, type FieldTexts } from "@/components/form/field";

type SelectFieldProps = Omit<ComponentProps<"select">, "id" | "required"> & FieldTexts;

/** A native select; its options are the children. */
export function SelectField({
  label,
  error,
  hint,
  optional,
  required,
  className,
  ...select
}: SelectFieldProps) {
  return (
    <Field {...{ label, error, hint, optional, required, className }}>
      {(control) => (
        <div className="relative">
          <select {...select} {...control} className="field" />
          <ChevronDown
            aria-hidden="true"
            size={20}
            strokeWidth={1.75}
            className="pointer-events-none absolute top-1/2 right-3.5 -translate-y-1/2"
          />
        </div>
      )}
    </Field>
  );
}
