import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

/** Another way to go on from a step of the sign-in page; looks like the links beside it. */
export function StepButton({ className, ...rest }: ComponentProps<"button">) {
  return (
    <button
      {...rest}
      type="button"
      className={cn("text-link inline-flex min-h-11 items-center text-left font-[520]", className)}
    />
  );
}
