import { cn } from "@/lib/cn";

/** A loading placeholder, sized by className. Hidden from assistive technology, which gets a status text instead. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div aria-hidden="true" className={cn("bg-neutral animate-skeleton rounded-sm", className)} />
  );
}
