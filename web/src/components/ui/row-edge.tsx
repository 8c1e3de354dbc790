import type { RefObject } from "react";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { cn } from "@/lib/cn";

type RowEdgeProps = {
  side: "left" | "right";
  /** The row, which scrolls sideways. */
  row: RefObject<HTMLElement | null>;
  /** The position, and the colour of the gradient. */
  className: string;
};

/**
 * An arrow at an edge of a row whose content does not fit. A click scrolls the row. The arrow is only for pointers: when Tab moves
 * the focus to hidden content, the browser scrolls the row.
 */
export function RowEdge({ side, row, className }: RowEdgeProps) {
  const Chevron = side === "left" ? ChevronLeft : ChevronRight;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-hidden="true"
      onMouseDown={(event) => event.preventDefault()} // the focus stays where it is
      onClick={() => {
        const width = row.current?.clientWidth ?? 0;
        row.current?.scrollBy({ left: (side === "left" ? -0.7 : 0.7) * width });
      }}
      className={cn(
        "text-ink2 absolute z-10 flex w-14 items-center",
        side === "left" ? "bg-linear-to-r from-45%" : "justify-end bg-linear-to-l from-45%",
        className,
      )}
    >
      <Chevron size={20} strokeWidth={1.75} />
    </button>
  );
}
