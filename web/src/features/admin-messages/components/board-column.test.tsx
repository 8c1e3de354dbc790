import { DndContext } from "@dnd-kit/core";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { BoardColumn } from "@/features/admin-messages/components/board-column";
import type { BoardColumn as Column } from "@/lib/types";
import { renderApp } from "@/test/render";

const card = {
  message_id: "1",
  name: "Inês",
  artwork_id: null,
  price: "",
  promised_on: "",
  unread: false,
  created_at: "2026-11-13T09:41:00Z",
};
const column: Column = { stage: "finished", total: 700, next: [], cards: [card] };

const open = (allSearch: string | null) =>
  renderApp(
    <DndContext>
      <BoardColumn column={column} dropState={null} isOver={false} allSearch={allSearch}>
        <li>{card.name}</li>
      </BoardColumn>
    </DndContext>,
  );

it("BOARD-rest: a link shows the other cards, and a sentence says what the server does not send", () => {
  const { unmount } = open("all=finished");
  expect(screen.getByRole("link", { name: "Show all 700" })).toHaveAttribute(
    "href",
    "/?all=finished",
  );
  unmount();
  open(null);
  expect(screen.getByText("1 of 700 are shown.")).toBeVisible();
  expect(screen.queryByRole("link")).toBeNull();
});
