import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

/** The colours of a badge. */
const tones = {
  ochre: "bg-ochre text-[#151b2a]",
  outline: "text-ink [box-shadow:inset_0_0_0_1px_var(--edge)]",
  green: "bg-green-tint text-green",
  indigo: "bg-indigo-tint text-indigo",
  neutral: "bg-neutral text-ink2",
};

type BadgeProps = ComponentProps<"span"> & { tone: keyof typeof tones };

/** A short label on a coloured background. The colour only repeats what the text says. */
export function Badge({ tone, className, ...rest }: BadgeProps) {
  return (
    <span
      {...rest}
      className={cn(
        "text-badge inline-flex min-h-[26px] flex-none items-center rounded-sm px-2.5 whitespace-nowrap",
        tones[tone],
        className,
      )}
    />
  );
}
