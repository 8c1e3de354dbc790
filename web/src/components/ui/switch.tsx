import type { ReactNode } from "react";
import { useId } from "react";
import * as RadixSwitch from "radix-ui/switch";
import { cn } from "@/lib/cn";

/** A switch has a visible label, or an accessible name only. */
type SwitchProps = {
  checked: boolean;
  onCheckedChange(checked: boolean): void;
  disabled?: boolean;
  className?: string;
} & ({ label: ReactNode; "aria-label"?: never } | { label?: never; "aria-label": string });

/** An on/off switch in a row of 44 px with its label at the left. Without a label only the switch is rendered. */
export function Switch({
  label,
  checked,
  onCheckedChange,
  disabled,
  className,
  ...rest
}: SwitchProps) {
  const id = useId();
  const track = (
    <RadixSwitch.Root
      id={id}
      checked={checked}
      onCheckedChange={onCheckedChange}
      disabled={disabled}
      aria-label={rest["aria-label"]}
      // The visible switch is 28 px high; a transparent pseudo-element enlarges the touch target to 44 px.
      className="bg-edge data-[state=checked]:bg-indigo disabled:bg-neutral relative h-7 w-12 flex-none rounded-full transition-colors duration-200 before:absolute before:-inset-x-1 before:-inset-y-2"
    >
      <RadixSwitch.Thumb className="bg-field ease-soft block size-5 translate-x-1 rounded-full transition-transform duration-200 data-[state=checked]:translate-x-6" />
    </RadixSwitch.Root>
  );
  if (!label) return track;
  return (
    <div className={cn("flex min-h-11 items-center justify-between gap-4", className)}>
      <label htmlFor={id} className="label-text flex min-h-11 flex-1 items-center">
        {label}
      </label>
      {track}
    </div>
  );
}
