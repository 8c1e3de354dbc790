import { Button, type ButtonProps } from "@/components/ui/button";

type IconButtonProps = Omit<ButtonProps, "size" | "aria-label"> & {
  /** Accessible name and tooltip. */
  label: string;
  size?: "icon" | "iconSm";
};

/** A square button that shows only an icon. It is 48 px wide, or 44 px with the size iconSm. */
export function IconButton({
  label,
  size = "icon",
  variant = "outline",
  ...rest
}: IconButtonProps) {
  return <Button {...rest} variant={variant} size={size} aria-label={label} title={label} />;
}
