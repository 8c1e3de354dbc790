import { Button, type ButtonProps } from "@/components/ui/button";

type IconButtonProps = Omit<ButtonProps, "size" | "aria-label"> & {
  /** Accessible name and tooltip. */
  label: string;
  size?: "icon" | "iconSm";
};

/** A square button that shows only an icon: 48 px, or 44 px as iconSm. */
export function IconButton({
  label,
  size = "icon",
  variant = "outline",
  ...rest
}: IconButtonProps) {
  return <Button {...rest} variant={variant} size={size} aria-label={label} title={label} />;
}
