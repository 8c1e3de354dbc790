import type { ReactNode } from "react";
import { Info } from "lucide-react";
import { cn } from "@/lib/cn";

/** A box with information, not an error, above the content that it is about. */
export function Notice({
  title,
  children,
  className,
}: {
  title: string;
  children?: ReactNode;
  className?: string;
}) {
  return (
    <div
      className={cn(
        "bg-shade border-band flex gap-3 rounded-sm border-b-6 px-4 pt-3.5 pb-3",
        className,
      )}
    >
      <Info
        aria-hidden="true"
        size={20}
        strokeWidth={1.75}
        className="text-indigo mt-1 flex-none"
      />
      <div className="min-w-0">
        <p className="font-[620]">{title}</p>
        {children && <div className="mt-1">{children}</div>}
      </div>
    </div>
  );
}
