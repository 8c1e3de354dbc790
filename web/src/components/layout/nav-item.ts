import { cn } from "@/lib/cn";

/** Looks of one word in the bar: a band grows under it on hover and stays on the current area. */
export function navItem(current: boolean, className?: string): string {
  return cn(
    "nav-text relative inline-flex min-h-11 items-center rounded-sm whitespace-nowrap",
    "after:absolute after:inset-x-0 after:bottom-1 after:bg-current after:transition-[height] after:duration-200 after:ease-cal",
    current ? "after:h-[3px]" : "after:h-0 hover:after:h-[3px]",
    className,
  );
}
