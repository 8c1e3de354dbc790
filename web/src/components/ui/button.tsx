import type { ComponentProps } from "react";
import { buttonLooks, type ButtonLooks } from "@/components/ui/button-looks";
import { Spinner } from "@/components/ui/spinner";

export type ButtonProps = ComponentProps<"button"> &
  ButtonLooks & {
    /** Shows the spinner and ignores presses, but stays focusable so that focus is not lost. */
    loading?: boolean;
  };

export function Button({
  variant,
  size,
  loading = false,
  className,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      // A submit button that is pressed again while busy must not send the form twice.
      type={loading ? "button" : type}
      className={buttonLooks({ variant, size, className })}
      aria-busy={loading || undefined}
      onClick={loading ? undefined : onClick}
    >
      {loading && <Spinner />}
      {children}
    </button>
  );
}
