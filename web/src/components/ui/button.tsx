import type { ComponentProps } from "react";
import { buttonClasses, type ButtonStyle } from "@/components/ui/button-classes";
import { Spinner } from "@/components/ui/spinner";

/** The props of Button: those of an element `button`, the style, and `loading`. */
export type ButtonProps = ComponentProps<"button"> &
  ButtonStyle & {
    /** Shows a spinner and ignores clicks. The button is not disabled, because that would lose its focus. */
    loading?: boolean;
  };

/** A button in the styles of the site; a plain button, not a submit button, by default. */
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
      // A click on a loading submit button must not submit the form again.
      type={loading ? "button" : type}
      className={buttonClasses({ variant, size, className })}
      aria-busy={loading || undefined}
      onClick={loading ? undefined : onClick}
    >
      {loading && <Spinner />}
      {children}
    </button>
  );
}
