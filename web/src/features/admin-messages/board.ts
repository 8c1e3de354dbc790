import type { BoardCard, BoardColumn, CommissionStage } from "@/lib/types";

// This file has the rules of the board: the page with the commissions (works that clients order) as cards, in a column for each
// stage (how far a commission is). Each commission belongs to the message that has asked for it, so a card is found by message_id.

/** The stages of commissions, in the order of the columns of the board. */
export const STAGES: readonly CommissionStage[] = [
  "enquiry",
  "offer",
  "accepted",
  "in_progress",
  "finished",
  "declined",
];

/** Returns the card of the message with this id, and its column. Returns undefined if the board does not show the message. */
export function findCard(columns: readonly BoardColumn[], id: string) {
  for (const column of columns) {
    const card = column.cards.find(({ message_id }) => message_id === id);
    if (card) return { card, column };
  }
  return undefined;
}

/**
 * Returns the columns after the card has moved to the top of the column `to`. The board shows them while the move is being saved.
 * The place of the card in its new column may change when the board has been fetched again, because the server decides it.
 */
export function moveCard(
  columns: readonly BoardColumn[],
  card: BoardCard,
  to: CommissionStage,
): BoardColumn[] {
  return columns.map((column) => {
    const cards = column.cards.filter(({ message_id }) => message_id !== card.message_id);
    // -1 if the card was in this column, else 0.
    const change = cards.length - column.cards.length;
    if (column.stage === to)
      return {
        ...column,
        cards: [card, ...cards],
        total: column.total + 1 + change,
      };
    return { ...column, cards, total: column.total + change };
  });
}

/**
 * Returns the nearest stage to the left (-1) or to the right (1) to which a card of the column can be moved. Returns undefined if
 * there is no such stage. `next` has all stages to which the cards of the column can be moved.
 */
export function nearestStage(
  { stage, next }: Pick<BoardColumn, "stage" | "next">,
  direction: -1 | 1,
): CommissionStage | undefined {
  for (let at = STAGES.indexOf(stage) + direction; STAGES[at]; at += direction)
    if (next.includes(STAGES[at]!)) return STAGES[at];
  return undefined;
}

/** Whether a move first opens the form for an offer. An enquiry gets to the stage `offer` when the owner sends an offer. */
export const needsOffer = (from: CommissionStage, to: CommissionStage): boolean =>
  from === "enquiry" && to === "offer";

/**
 * Whether the promised date of a commission has passed before the commission is finished. Both dates are YYYY-MM-DD. `promised` is
 * "" if no date was promised.
 */
export const isOverdue = (stage: CommissionStage, promised: string, today: string): boolean =>
  (stage === "accepted" || stage === "in_progress") && promised !== "" && promised < today;
