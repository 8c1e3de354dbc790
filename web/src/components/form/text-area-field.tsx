import type { ComponentProps } from "react";
import { Field, type SharedFieldProps } from "@/components/form/field";

type TextAreaFieldProps = Omit<ComponentProps<"textarea">, "id" | "required"> & SharedFieldProps;

/** An input for text of several lines. */
export function TextAreaField({
  label,
  error,
  hint,
  optional,
  required,
  className,
  ...area
}: TextAreaFieldProps) {
  return (
    <Field {...{ label, error, hint, optional, required, className }}>
      {(control) => <textarea {...area} {...control} className="field" />}
    </Field>
  );
}
