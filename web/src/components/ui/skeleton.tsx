import { cn } from "@/lib/cn";

/** A waiting surface; the size comes from className. Assistive technology hears the status text instead. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden="true" className={cn("bg-fundo animate-wait rounded-sm", className)} />;
}
