import type { BoardCard, BoardColumn, CommissionStage } from "@/lib/types";

/** The stages of commissions, in the order of the columns of the board. */
export const STAGES: readonly CommissionStage[] = [
  "enquiry",
  "offer",
  "accepted",
  "in_progress",
  "finished",
  "declined",
];

/** The card of the message with this id, and its column; undefined if the board does not show the message. */
export function findCard(columns: readonly BoardColumn[], id: string) {
  for (const column of columns) {
    const card = column.cards.find(({ message_id }) => message_id === id);
    if (card) return { card, column };
  }
  return undefined;
}

/**
 * Returns the columns with the card at the top of the column `to`. The page shows them until it has fetched the board again, in
 * which the server has decided the card's place in the column.
 */
export function moveCard(
  columns: readonly BoardColumn[],
  card: BoardCard,
  to: CommissionStage,
): BoardColumn[] {
  return columns.map((column) => {
    // The cards of the column without the moved one, and the change of their number: -1, or 0 if the card was not there.
    const cards = column.cards.filter(({ message_id }) => message_id !== card.message_id);
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

/** The nearest stage to the left (-1) or right (1) to which a card of a column can be moved; undefined if there is none. */
export function nearestStage(
  { stage, next }: Pick<BoardColumn, "stage" | "next">,
  direction: -1 | 1,
): CommissionStage | undefined {
  for (let at = STAGES.indexOf(stage) + direction; STAGES[at]; at += direction)
    if (next.includes(STAGES[at]!)) return STAGES[at];
  return undefined;
}

/** Whether a move first opens the form for an offer, because an enquiry gets to the stage `offer` when an offer is sent. */
export const needsOffer = (from: CommissionStage, to: CommissionStage): boolean =>
  from === "enquiry" && to === "offer";

/**
 * Whether the promised date of a commission that is being worked on has passed. Both dates are YYYY-MM-DD; `promised` is "" for
 * none.
 */
export const isOverdue = (stage: CommissionStage, promised: string, today: string): boolean =>
  (stage === "accepted" || stage === "in_progress") && promised !== "" && promised < today;
