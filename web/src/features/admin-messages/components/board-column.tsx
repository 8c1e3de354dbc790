import type { ReactNode } from "react";
import { useDroppable } from "@dnd-kit/core";
import { Ban } from "lucide-react";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import type { BoardColumn as ColumnData } from "@/lib/types";

// This file renders a column of the board: one stage of commissions (works that clients order) with its cards.

/** What a stage shows while the owner has picked up a card. Null while no card is picked up. */
export type DropState =
  /** The card can be put down on this stage. */
  | "open"
  /** The card cannot be put down on this stage. */
  | "closed"
  /** The card comes from this stage. */
  | "source"
  | null;

type StageHeadingProps = { column: ColumnData; dropState: DropState };

/** The name of a stage, with the number of its commissions. */
export function StageHeading({ column, dropState }: StageHeadingProps) {
  const t = useT();
  return (
    <>
      <span className="min-w-0">{t(`commission.stage.${column.stage}`)}</span>
      {dropState === "closed" ? (
        <Ban aria-hidden="true" size={18} strokeWidth={1.75} className="flex-none" />
      ) : (
        <span className="text-badge flex-none lining-nums tabular-nums">{column.total}</span>
      )}
    </>
  );
}

type BoardColumnProps = {
  column: ColumnData;
  dropState: DropState;
  /** Whether the picked-up card is over this column. */
  isOver: boolean;
  /** Whether only screen readers get the heading. On phones the tabs above the column show it, and cards are dropped on the tabs. */
  bare?: boolean;
  /** The query string of the URL that shows all cards of this column. Null if the page already shows them. */
  allSearch: string | null;
  children: ReactNode;
};

/** A stage of the board with its cards. */
export function BoardColumn({
  column,
  dropState,
  isOver,
  bare = false,
  allSearch,
  children,
}: BoardColumnProps) {
  const t = useT();
  const { stage, total, cards } = column;
  // The id of a drop area is its stage. On phones the tab is the drop area, so the column has another id and is disabled.
  const { setNodeRef } = useDroppable({ id: bare ? `column-${stage}` : stage, disabled: bare });
  return (
    <section
      ref={setNodeRef}
      aria-labelledby={`stage-${stage}`}
      data-stage={stage}
      data-drop={dropState ?? undefined}
      data-over={isOver || undefined}
      className={cn(
        "border-ink flex min-w-0 snap-start flex-col border-t-2 pb-24 transition-colors duration-200",
        dropState === "open" && "bg-indigo-tint",
        dropState === "closed" && "bg-neutral text-ink2",
        isOver && dropState === "open" && "outline-indigo outline-3 -outline-offset-3",
        isOver && dropState === "closed" && "outline-danger outline-3 -outline-offset-3",
      )}
    >
      <h2
        id={`stage-${stage}`}
        tabIndex={-1}
        className={cn(
          "nav-text flex items-center justify-between gap-2 px-2 py-2.5 outline-none",
          bare && "sr-only",
        )}
      >
        <StageHeading column={column} dropState={dropState} />
      </h2>
      {cards.length > 0 ? (
        <ul aria-labelledby={`stage-${stage}`} className="border-line border-t">
          {children}
        </ul>
      ) : (
        <p className="text-ink2 border-line border-t px-2 py-3 text-sm">{t("board.none")}</p>
      )}
      {cards.length < total && (
        <p className="px-2 py-3 text-sm">
          {allSearch === null ? (
            t("board.capped", { shown: cards.length, total })
          ) : (
            <Link to={{ search: allSearch }} className="text-link">
              {t("board.showAll", { n: total })}
            </Link>
          )}
        </p>
      )}
    </section>
  );
}
