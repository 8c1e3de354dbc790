import { cn } from "@/lib/cn";

/** A loading placeholder, sized by className. It is hidden from assistive technology; a status text replaces it there. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div aria-hidden="true" className={cn("bg-neutral animate-skeleton rounded-sm", className)} />
  );
}
