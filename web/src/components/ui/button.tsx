import type { ComponentProps } from "react";
import { buttonClasses, type ButtonStyle } from "@/components/ui/button-classes";
import { Spinner } from "@/components/ui/spinner";

/** The props of Button: the attributes of a button element, the style, and `loading`. */
export type ButtonProps = ComponentProps<"button"> &
  ButtonStyle & {
    /** Shows a spinner and ignores clicks. The button is not disabled, because that would lose its focus. */
    loading?: boolean;
  };

/** A button in the styles of the site. By default it does not submit a form. */
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
