import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

const tones = {
  ocre: "bg-ocre text-[#151b2a]",
  outline: "text-ink shadow-[inset_0_0_0_1px_var(--edge)]",
  verde: "bg-verde-tint text-verde",
  anil: "bg-anil-tint text-anil",
  fundo: "bg-fundo text-ink2",
};

type BadgeProps = ComponentProps<"span"> & { tone: keyof typeof tones };

/** A word on a patch of colour; the word always says it, the colour only helps. */
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
