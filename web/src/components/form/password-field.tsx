import { useState, type ComponentProps } from "react";
import { Eye, EyeOff } from "lucide-react";
import { Field, type SharedFieldProps } from "@/components/form/field";
import { useT } from "@/lib/i18n";

type PasswordFieldProps = Omit<ComponentProps<"input">, "id" | "required" | "type"> &
  SharedFieldProps;

/** A password input with a button that shows or hides the password. */
export function PasswordField({
  label,
  error,
  hint,
  optional,
  required,
  className,
  ...input
}: PasswordFieldProps) {
  const t = useT();
  const [isVisible, setVisible] = useState(false);
  const Icon = isVisible ? EyeOff : Eye;
  return (
    <Field {...{ label, error, hint, optional, required, className }}>
      {(control) => (
        <div className="relative">
          <input
            {...input}
            {...control}
            type={isVisible ? "text" : "password"}
            className="field pr-14"
            autoCapitalize="off"
            spellCheck={false}
          />
          <button
            type="button"
            aria-label={isVisible ? t("auth.hide") : t("auth.show")}
            title={isVisible ? t("auth.hide") : t("auth.show")}
            onClick={() => setVisible(!isVisible)}
            className="absolute top-1/2 right-1 grid size-11 -translate-y-1/2 place-items-center rounded-sm"
          >
            <Icon aria-hidden="true" size={21} strokeWidth={1.75} />
          </button>
        </div>
      )}
    </Field>
  );
}
