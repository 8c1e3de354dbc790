import { useDroppable } from "@dnd-kit/core";
import { StageHeading, type DropState } from "@/features/admin-messages/components/board-column";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import type { BoardColumn, CommissionStage } from "@/lib/types";

type BoardTabsProps = {
  columns: readonly BoardColumn[];
  /** The stage whose cards are shown below the tabs. */
  shownStage: CommissionStage;
  /** The stage whose button the picked-up card is over. Null if it is over no button. */
  overStage: CommissionStage | null;
  /** Returns what a button shows while a card is picked up, such as that the card can be put down on it. */
  dropStateOf(stage: CommissionStage): DropState;
  onShow(stage: CommissionStage): void;
};

/**
 * The stages of the board (the page with the commissions as cards) as buttons. They are shown on phones, where the board has room for
 * one stage. A tap shows the cards of a stage. A card that is dropped on a button moves to the stage of the button.
 */
export function BoardTabs({ columns, shownStage, overStage, dropStateOf, onShow }: BoardTabsProps) {
  const t = useT();
  return (
    <div
      role="group"
      aria-label={t("commission.stage")}
      className="bg-page sticky top-16 z-20 -mx-1 mb-2 grid grid-cols-2 gap-1 py-1 min-[22rem]:grid-cols-3"
    >
      {columns.map((column) => (
        <BoardTab
          key={column.stage}
          column={column}
          isShown={column.stage === shownStage}
          isOver={column.stage === overStage}
          dropState={dropStateOf(column.stage)}
          onShow={onShow}
        />
      ))}
    </div>
  );
}

type BoardTabProps = {
  column: BoardColumn;
  /** Whether the cards of the stage are shown. */
  isShown: boolean;
  /** Whether the picked-up card is over the button. */
  isOver: boolean;
  dropState: DropState;
  onShow(stage: CommissionStage): void;
};

function BoardTab({ column, isShown, isOver, dropState, onShow }: BoardTabProps) {
  const { setNodeRef } = useDroppable({ id: column.stage });
  return (
    <button
      ref={setNodeRef}
      type="button"
      aria-pressed={isShown}
      data-drop={dropState ?? undefined}
      data-over={isOver || undefined}
      onClick={() => onShow(column.stage)}
      className={cn(
        "flex min-h-12 items-center justify-between gap-1 border-b-6 px-2 pt-1.5 text-left text-sm leading-tight font-[520] transition-colors duration-200",
        isShown ? "border-indigo text-ink" : "border-line text-ink2",
        dropState === "open" && "bg-indigo-tint text-ink",
        dropState === "closed" && "bg-neutral text-ink2",
        isOver && dropState === "open" && "outline-indigo outline-3 -outline-offset-3",
        isOver && dropState === "closed" && "outline-danger outline-3 -outline-offset-3",
      )}
    >
      <StageHeading column={column} dropState={dropState} />
    </button>
  );
}
