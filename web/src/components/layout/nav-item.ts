import { cn } from "@/lib/cn";

/** The classes of a link in the header. The link to the current page is underlined; the others are underlined on hover. */
export function navItemClasses(current: boolean, className?: string): string {
  return cn(
    "nav-text relative inline-flex min-h-11 items-center rounded-sm whitespace-nowrap",
    "after:absolute after:inset-x-0 after:bottom-1 after:bg-current after:transition-[height] after:duration-200 after:ease-soft",
    current ? "after:h-[3px]" : "after:h-0 hover:after:h-[3px]",
    className,
  );
}
