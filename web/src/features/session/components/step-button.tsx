import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

/** A button that shows another step of the sign-in page. It looks like a link. */
export function StepButton({ className, ...rest }: ComponentProps<"button">) {
  return (
    <button
      {...rest}
      type="button"
      className={cn("text-link inline-flex min-h-11 items-center text-left font-[520]", className)}
    />
  );
}
