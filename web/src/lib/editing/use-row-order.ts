import { useEffect, useRef, useState } from "react";
import { useUndo } from "@/lib/editing/use-undo";
import { moveItem } from "@/lib/move-item";
import type { UndoMove } from "@/lib/editing/undoable-moves";
import { placeOf } from "@/lib/place-of";
import { stackedToast } from "@/lib/toast";
import type { MoveArgs } from "@/lib/types";

/** The texts that are shown or announced after a row was moved. */
type OrderTexts = {
  /** What screen readers announce after a move, without waiting for the server. */
  moved(position: { title: string; n: number; total: number }): string;
  /** The title of the toast after a move was saved. */
  ordered: string;
  /** The title of the toast after a move could not be saved. */
  failed: string;
};

/**
 * Lets the owner order the rows of a list. `stored` has the rows in the server's order. `save` stores a move, fetches the rows again,
 * and resolves with a function that undoes the move. Returns:
 * - `rows`: the rows in the order that the owner has chosen, even before the server has confirmed it
 * - `move`: moves a row to an index
 * - `announcement`: a text for screen readers
 */
export function useRowOrder<Row extends { id: string; title: string }>(
  stored: Row[],
  save: (args: MoveArgs) => Promise<UndoMove>,
  texts: OrderTexts,
) {
  const undoButton = useUndo();
  // The ids in the order that the owner has chosen; null while the server's order is shown. `storedBefore` is the value of `stored` when
  // the server confirmed the move. The chosen order is shown until `stored` is another array, which then contains the move.
  const [chosen, setChosen] = useState<{ ids: string[]; storedBefore?: Row[] } | null>(null);
  const latestStored = useRef(stored);
  useEffect(() => {
    latestStored.current = stored;
  });
  const [announcement, setAnnouncement] = useState("");
  const latestMove = useRef(0); // the number of the latest move; 0 before the first move
  const byId = new Map(stored.map((row) => [row.id, row]));
  const rows =
    chosen && (!chosen.storedBefore || chosen.storedBefore === stored)
      ? chosen.ids.flatMap((id) => byId.get(id) ?? [])
      : stored;

  function move(id: string, to: number) {
    const from = rows.findIndex((row) => row.id === id);
    const index = Math.max(0, Math.min(to, rows.length - 1));
    if (from < 0 || from === index) return;
    const before = rows.map((row) => row.id);
    const order = moveItem(before, from, index);
    const moveNumber = ++latestMove.current;
    setChosen({ ids: order });
    setAnnouncement(texts.moved({ title: rows[from]!.title, n: index + 1, total: rows.length }));
    save(placeOf(order, [id])).then(
      (undo) => {
        // Of several quick moves, only the last one shows a toast.
        if (moveNumber !== latestMove.current) return;
        setChosen({ ids: order, storedBefore: latestStored.current });
        stackedToast({ title: texts.ordered, action: undoButton(undo) });
      },
      () => {
        if (moveNumber === latestMove.current) setChosen(null);
        stackedToast({ title: texts.failed, destructive: true });
      },
    );
  }

  return { rows, move, announcement };
}
