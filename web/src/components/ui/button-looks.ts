import { cn } from "@/lib/cn";

const sizes = { md: "", sm: "btn-sm", icon: "btn-icon", iconSm: "btn-icon-sm" };

export type ButtonLooks = {
  variant?: "primary" | "outline" | "ghost" | "danger" | "white" | "onBand";
  size?: keyof typeof sizes;
  className?: string;
};

/** The classes of a button, for links that look like one. */
export function buttonLooks({ variant = "primary", size = "md", className }: ButtonLooks): string {
  return cn("btn", `btn-${variant}`, sizes[size], className);
}
