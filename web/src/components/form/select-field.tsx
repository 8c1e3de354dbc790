import type { ComponentProps } from "react";
import { ChevronDown } from "lucide-react";
import { Field, type SharedFieldProps } from "@/components/form/field";

type SelectFieldProps = Omit<ComponentProps<"select">, "id" | "required"> & SharedFieldProps;

/** A native select element. Its children are the options. */
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
