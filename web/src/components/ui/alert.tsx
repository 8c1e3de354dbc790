import type { ReactNode } from "react";
import { CircleAlert } from "lucide-react";
import { cn } from "@/lib/cn";

/** An error message above the fields or content that it is about. Screen readers announce it. */
export function Alert({
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
      role="alert"
      className={cn(
        "bg-danger-tint border-danger flex gap-3 rounded-sm border-b-6 px-4 pt-3.5 pb-3",
        className,
      )}
    >
      <CircleAlert
        aria-hidden="true"
        size={20}
        strokeWidth={1.75}
        className="text-danger mt-1 flex-none"
      />
      <div>
        <p className="text-danger font-[620]">{title}</p>
        {children && <div>{children}</div>}
      </div>
    </div>
  );
}
