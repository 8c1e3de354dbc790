import { expect, test } from "vitest";
import {
  findCard,
  isOverdue,
  moveCard,
  nearestStage,
  needsOffer,
  STAGES,
} from "@/features/admin-messages/board";
import type { BoardCard, BoardColumn, CommissionStage } from "@/lib/types";

const card = (id: string): BoardCard => ({
  message_id: id,
  name: id,
  artwork_id: null,
  price: "",
  promised_on: "",
  unread: false,
  created_at: "2026-03-12T10:00:00Z",
});
const column = (
  stage: CommissionStage,
  ids: string[],
  next: CommissionStage[] = [],
  total = ids.length,
): BoardColumn => ({ stage, total, next, cards: ids.map(card) });

const columns = [
  column("enquiry", ["a", "b"]),
  column("offer", []),
  column("finished", ["c"], [], 40),
];
const shape = (list: BoardColumn[]) =>
  list.map(({ cards, total }) => [cards.map(({ name }) => name).join(), total]);

test("a moved card is at the top of its new column, and both columns count it", () => {
  expect(shape(moveCard(columns, card("b"), "finished"))).toEqual([
    ["a", 1],
    ["", 0],
    ["b,c", 41],
  ]);
  expect(shape(columns)).toEqual([
    ["a,b", 2],
    ["", 0],
    ["c", 40],
  ]);
});

test("a card that is moved twice, or is not shown any more, is counted once", () => {
  expect(shape(moveCard(columns, card("c"), "finished"))[2]).toEqual(["c", 40]);
  expect(shape(moveCard(columns, card("x"), "offer"))).toEqual([
    ["a,b", 2],
    ["x", 1],
    ["c", 40],
  ]);
});

test("a card is found with its column", () => {
  expect(findCard(columns, "c")?.column.stage).toBe("finished");
  expect(findCard(columns, "x")).toBeUndefined();
});

test("the nearest stage skips those to which the card cannot go", () => {
  const enquiry = column("enquiry", [], ["offer", "accepted", "declined"]);
  const accepted = column("accepted", [], ["offer", "in_progress", "declined"]);
  expect(nearestStage(enquiry, 1)).toBe("offer");
  expect(nearestStage(enquiry, -1)).toBeUndefined();
  expect(nearestStage(accepted, -1)).toBe("offer");
  expect(nearestStage(column("declined", [], ["enquiry"]), -1)).toBe("enquiry");
  expect(nearestStage(column("declined", [], ["enquiry"]), 1)).toBeUndefined();
});

test("an enquiry becomes an offer by the form alone", () => {
  const opens = STAGES.flatMap((from) =>
    STAGES.filter((to) => needsOffer(from, to)).map((to) => `${from} ${to}`),
  );
  expect(opens).toEqual(["enquiry offer"]);
});

test("a date has passed on the day after it, while the work is not finished", () => {
  expect(isOverdue("accepted", "2026-03-12", "2026-03-12")).toBe(false);
  expect(isOverdue("accepted", "2026-03-12", "2026-03-13")).toBe(true);
  expect(isOverdue("in_progress", "2026-03-12", "2026-03-13")).toBe(true);
  expect(isOverdue("finished", "2026-03-12", "2026-03-13")).toBe(false);
  expect(isOverdue("accepted", "", "2026-03-13")).toBe(false);
});
