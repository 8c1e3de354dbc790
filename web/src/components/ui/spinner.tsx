import { cn } from "@/lib/cn";

/** A spinning ring in the current colour; the text beside it names the activity. */
export function Spinner({ className }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      className={cn("size-[1.125rem] flex-none animate-spin", className)}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M10 2a8 8 0 1 1-7.4 5" />
    </svg>
  );
}
