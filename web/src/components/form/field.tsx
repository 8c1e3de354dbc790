import { useId, type ReactNode } from "react";
import { CircleAlert } from "lucide-react";
import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

/** Attributes that connect an input to its label, hint and error; spread them into the input. */
type FieldControl = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  "aria-required": true | undefined;
};

/** Props that every form field has. */
export type SharedFieldProps = {
  label: string;
  /** The message below the input. Without it the input is not marked as invalid. */
  error?: string;
  /** Help below the input. */
  hint?: string;
  /** Adds "optional" after the label. */
  optional?: boolean;
  /** Tells screen readers that the input is required. Nothing visible changes. */
  required?: boolean;
};

type FieldProps = SharedFieldProps & {
  className?: string;
  /** Renders the input. */
  children(control: FieldControl): ReactNode;
};

/** The layout that all form fields share: the label, the input that `children` renders, the error and the hint. */
export function Field({ label, error, hint, optional, required, className, children }: FieldProps) {
  const t = useT();
  const id = useId();
  const hintId = hint ? `${id}-hint` : undefined;
  const errorId = error ? `${id}-error` : undefined;
  return (
    <div className={className}>
      <label htmlFor={id} className="label-text mb-2 block">
        {label} {optional && <span className="text-ink2 font-[430]">{t("common.optional")}</span>}
      </label>
      {children({
        id,
        "aria-describedby": [errorId, hintId].filter(Boolean).join(" ") || undefined,
        "aria-invalid": error ? true : undefined,
        "aria-required": required || undefined,
      })}
      {error && (
        <p
          id={errorId}
          className="text-danger mt-[5px] flex gap-2 text-sm leading-[1.4] font-[520]"
        >
          <CircleAlert
            aria-hidden="true"
            size={20}
            strokeWidth={1.75}
            className="mt-[1.5px] flex-none"
          />
          <span>{error}</span>
        </p>
      )}
      {hint && (
        <p id={hintId} className={cn("text-ink2 text-sm", error ? "mt-1" : "mt-2")}>
          {hint}
        </p>
      )}
    </div>
  );
}
