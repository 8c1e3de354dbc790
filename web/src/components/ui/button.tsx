import type { ComponentProps } from "react";
import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui/slot";
import { Spinner } from "@/components/ui/spinner";

const button = cva("btn", {
  variants: {
    variant: {
      primary: "btn-primary",
      outline: "btn-outline",
      ghost: "btn-ghost",
      danger: "btn-danger",
      white: "btn-white",
      onBand: "btn-onBand",
    },
    size: { md: "", sm: "btn-sm", icon: "btn-icon", iconSm: "btn-icon-sm" },
  },
  defaultVariants: { variant: "primary", size: "md" },
});

export type ButtonProps = ComponentProps<"button"> &
  VariantProps<typeof button> & {
    /** Shows the spinner and ignores presses, but stays focusable so that focus is not lost. */
    loading?: boolean;
    /** Renders the only child (a link) with the button's looks. */
    asChild?: boolean;
  };

export function Button({
  variant,
  size,
  loading = false,
  asChild = false,
  className,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonProps) {
  const looks = button({ variant, size, className });
  if (asChild) {
    return (
      <Slot className={looks} onClick={onClick} {...rest}>
        {children}
      </Slot>
    );
  }
  return (
    <button
      {...rest}
      // A submit button that is pressed again while busy must not send the form twice.
      type={loading ? "button" : type}
      className={looks}
      aria-busy={loading || undefined}
      onClick={loading ? undefined : onClick}
    >
      {loading && <Spinner />}
      {children}
    </button>
  );
}
