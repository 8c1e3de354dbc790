import type { ComponentProps } from "react";
import { Field, type SharedFieldProps } from "@/components/form/field";

type TextFieldProps = Omit<ComponentProps<"input">, "id" | "required"> & SharedFieldProps;

/** A single-line input: text, email, number and so on. Spread the result of react-hook-form's `register` into it. */
export function TextField({
  label,
  error,
  hint,
  optional,
  required,
  className,
  type = "text",
  ...input
}: TextFieldProps) {
  return (
    <Field {...{ label, error, hint, optional, required, className }}>
      {(control) => <input {...input} {...control} type={type} className="field" />}
    </Field>
  );
}
