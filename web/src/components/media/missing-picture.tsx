import { ImageOff } from "lucide-react";
import { cn } from "@/lib/cn";

/** The placeholder for a picture that does not exist or failed to load. */
export function MissingPicture({ label, className }: { label: string; className?: string }) {
  return (
    <span
      role="img"
      aria-label={label}
      className={cn(
        "border-edge text-ink2 grid place-items-center rounded-sm border border-dashed",
        className,
      )}
    >
      <ImageOff aria-hidden="true" size={26} strokeWidth={1.5} />
    </span>
  );
}
