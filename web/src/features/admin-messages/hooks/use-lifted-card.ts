import { useState, type KeyboardEvent } from "react";
import { nearestStage, STAGES } from "@/features/admin-messages/board";
import type { BoardCard, BoardColumn, CommissionStage } from "@/lib/types";

// This file moves the cards of the board, by pointer and by keys. The board shows commissions (messages that order a work) as cards,
// in a column for each stage. A card is called lifted after it was picked up and until it is put down.

/** A card that is lifted. */
type LiftedCard = {
  card: BoardCard;
  /** The column that the card comes from. */
  column: BoardColumn;
  /** The stage whose column the card is over. Null if it is over no column. */
  over: CommissionStage | null;
  /** Whether the card was picked up by a key. If not, it was picked up by the pointer. */
  byKey: boolean;
};

/** The events of moving a card. `column` is always the column that the card comes from. */
type LiftedCardOptions = {
  /** Called when a card was picked up. */
  onLift(card: BoardCard): void;
  /** Called when an arrow key has chosen a stage for the lifted card. */
  onOver(stage: CommissionStage): void;
  /** Called when the card was put down, or moved by Alt and an arrow key. `to` is null if it was put down outside all columns. */
  onDrop(card: BoardCard, column: BoardColumn, to: CommissionStage | null): void;
  /** Called when the move was cancelled. The card stays in its column. */
  onCancel(card: BoardCard, column: BoardColumn): void;
  /** Called when Alt and an arrow key were pressed, but there is no stage in this direction to which the card can be moved. */
  onNoStage(card: BoardCard, column: BoardColumn): void;
};

/** The directions of the arrow keys: -1 is to the left, 1 is to the right. Up and down do the same as left and right. */
const DIRECTIONS: Record<string, -1 | 1> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/**
 * Returns the lifted card (`lifted`), and functions that the board calls for the events of the pointer and of keys. The keys:
 *  - Space picks a card up. Space or Enter puts it down.
 *  - Arrow keys choose a stage for the lifted card.
 *  - Escape cancels the move.
 *  - Alt and an arrow key move a card immediately, without lifting it.
 */
export function useLiftedCard({ onLift, onOver, onDrop, onCancel, onNoStage }: LiftedCardOptions) {
  const [lifted, setLifted] = useState<LiftedCard | null>(null);

  function lift(card: BoardCard, column: BoardColumn, byKey: boolean) {
    setLifted({ card, column, over: column.stage, byKey });
    onLift(card);
  }

  function dropAt(to: CommissionStage | null) {
    if (lifted) onDrop(lifted.card, lifted.column, to);
    setLifted(null);
  }

  function cancel() {
    if (lifted) onCancel(lifted.card, lifted.column);
    setLifted(null);
  }

  function moveOver(over: CommissionStage | null) {
    setLifted((current) => current && { ...current, over });
  }

  /** Handles the keys of a card. Returns whether the key was used. */
  function handleKey(event: KeyboardEvent, card: BoardCard, column: BoardColumn): boolean {
    const direction = DIRECTIONS[event.key];
    if (lifted?.byKey) {
      if (event.key === " " || event.key === "Enter") dropAt(lifted.over);
      else if (event.key === "Escape") cancel();
      else if (direction) {
        const from = { stage: lifted.over ?? column.stage, next: [...column.next, column.stage] };
        const over = nearestStage(from, direction);
        if (over) {
          moveOver(over);
          onOver(over);
        }
      } else return event.key !== "Tab"; // Tab leaves the card, which ends the move
      return true;
    }
    if (event.key === " ") {
      lift(card, column, true);
      return true;
    }
    if (event.altKey && direction) {
      const to = nearestStage(column, direction);
      if (to) onDrop(card, column, to);
      else onNoStage(card, column);
      return true;
    }
    return false;
  }

  return { lifted, lift, moveOver, dropAt, cancel, handleKey };
}

/** Returns the value if it is a stage, or null if not. The ids of the board's drop areas are stages. */
export const asStage = (text: unknown): CommissionStage | null =>
  STAGES.find((stage) => stage === text) ?? null;
