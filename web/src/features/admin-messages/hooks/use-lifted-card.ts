import { useState, type KeyboardEvent } from "react";
import { nearestStage, STAGES } from "@/features/admin-messages/board";
import type { BoardCard, BoardColumn, CommissionStage } from "@/lib/types";

/** A card that is picked up. */
type LiftedCard = {
  card: BoardCard;
  /** The column that the card comes from. */
  column: BoardColumn;
  /** The stage whose column the card is over; null outside all columns. */
  over: CommissionStage | null;
  /** Whether the card was picked up by a key, and not by the pointer. */
  byKey: boolean;
};

/** The events of moving a card; `column` is the column that the card comes from. */
type LiftedCardOptions = {
  /** Called when a card was picked up. */
  onLift(card: BoardCard): void;
  /** Called when a key has chosen a stage for the picked-up card. */
  onOver(stage: CommissionStage): void;
  /** Called when the card was put down, or moved by Alt and an arrow. `to` is null if it was put down outside all stages. */
  onDrop(card: BoardCard, column: BoardColumn, to: CommissionStage | null): void;
  /** Called when the move was cancelled. The card stays in its column. */
  onCancel(card: BoardCard, column: BoardColumn): void;
  /** Called when Alt and an arrow are pressed, but there is no stage in that direction. */
  onNowhere(card: BoardCard, column: BoardColumn): void;
};

/** The arrow keys: -1 chooses the stage to the left, 1 the stage to the right. */
const DIRECTIONS: Record<string, -1 | 1> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/**
 * Lets the owner move cards of the board. Returns the card that is picked up (`lifted`), and functions for the events of pointer and
 * keys. Space picks a card up and puts it down, arrows choose a stage, and Escape cancels the move. Alt and an arrow move a card
 * immediately, without picking it up.
 */
export function useLiftedCard({ onLift, onOver, onDrop, onCancel, onNowhere }: LiftedCardOptions) {
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
    setLifted((now) => now && { ...now, over });
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
      else onNowhere(card, column);
      return true;
    }
    return false;
  }

  return { lifted, lift, moveOver, dropAt, cancel, handleKey };
}

/** The value as a stage; null if it is none. The drop areas of the board have stages as ids. */
export const asStage = (text: unknown): CommissionStage | null =>
  STAGES.find((stage) => stage === text) ?? null;
