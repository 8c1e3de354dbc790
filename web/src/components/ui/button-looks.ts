import { cva } from "class-variance-authority";

/** The classes of a button, for links that look like one. */
export const buttonLooks = cva("btn", {
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
