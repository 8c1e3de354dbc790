import { cn } from "@/lib/cn";

/** The classes of each size. `icon` and `iconSm` are square. */
const sizes = { md: "", sm: "btn-sm", icon: "btn-icon", iconSm: "btn-icon-sm" };

/** The look of a button: its colours and its size. */
export type ButtonStyle = {
  /** `onBand` is for buttons on the coloured band at the top of the home page. */
  variant?: "primary" | "outline" | "ghost" | "danger" | "white" | "onBand";
  size?: keyof typeof sizes;
  className?: string;
};

/** The classes of a button; links use them to look like a button. */
export function buttonClasses({
  variant = "primary",
  size = "md",
  className,
}: ButtonStyle): string {
  return cn("btn", `btn-${variant}`, sizes[size], className);
}
