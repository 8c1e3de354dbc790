import type { ComponentProps } from "react";
import { Field, type FieldTexts } from "@/components/form/field";

type TextAreaFieldProps = Omit<ComponentProps<"textarea">, "id" | "required"> & FieldTexts;

export function TextAreaField({
  label,
  error,
  hint,
  optional,
  required,
  className,
  onFocus,
  ...area
}: TextAreaFieldProps) {
  return (
    <Field {...{ label, error, hint, optional, required, className }}>
      {(control) => (
        <textarea
          {...area}
          {...control}
          className="field"
          onFocus={(event) => {
            // The browser itself shows only the line with the caret and may leave the box below the window.
            event.currentTarget.scrollIntoView({ block: "nearest" });
            onFocus?.(event);
          }}
        />
      )}
    </Field>
  );
}
