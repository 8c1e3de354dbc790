import { useEffect, useRef, useState } from "react";
import { useUndo } from "@/lib/editing/use-undo";
import { moveItem } from "@/lib/move-item";
import { movesBack, placeOf } from "@/lib/place-of";
import { stackedToast } from "@/lib/toast";
import type { MoveArgs } from "@/lib/types";

type OrderTexts = {
  /** What screen readers announce after a move, without waiting for the server. */
  moved(place: { title: string; n: number; total: number }): string;
  /** The title of the toast after a move was saved. */
  ordered: string;
  /** The title of the toast after a move could not be saved. */
  failed: string;
};

/**
 * Returns the rows of a list in the order that the owner has chosen, also before the server has confirmed this order; a function that
 * moves a row; and the announcement for screen readers. `save` stores a move and fetches the rows again.
 */
export function useRowOrder<Row extends { id: string; title: string }>(
  stored: Row[],
  save: (args: MoveArgs) => Promise<unknown>,
  texts: OrderTexts,
) {
  const undoButton = useUndo();
  // The ids in the order that is being saved. It is shown until `stored` differs from `before`: the rows that are fetched after a move arrive
  // later than its response. Null if no order is being saved.
  const [saved, setSaved] = useState<{ ids: string[]; before?: Row[] } | null>(null);
  const latestStored = useRef(stored);
  useEffect(() => {
    latestStored.current = stored;
  });
  const [announcement, setAnnouncement] = useState("");
  const latestMove = useRef(0);
  const byId = new Map(stored.map((row) => [row.id, row]));
  const rows =
    saved && (!saved.before || saved.before === stored)
      ? saved.ids.flatMap((id) => byId.get(id) ?? [])
      : stored;

  function move(id: string, to: number) {
    const from = rows.findIndex((row) => row.id === id);
    const place = Math.max(0, Math.min(to, rows.length - 1));
    if (from < 0 || from === place) return;
    const before = rows.map((row) => row.id);
    const order = moveItem(before, from, place);
    const number = ++latestMove.current;
    setSaved({ ids: order });
    setAnnouncement(texts.moved({ title: rows[from]!.title, n: place + 1, total: rows.length }));
    save(placeOf(order, [id])).then(
      () => {
        if (number !== latestMove.current) return; // of several quick moves, only the last one shows a toast
        setSaved({ ids: order, before: latestStored.current });
        stackedToast({
          title: texts.ordered,
          action: undoButton(() => save(movesBack(before, [id])[0]!)),
        });
      },
      () => {
        if (number === latestMove.current) setSaved(null);
        stackedToast({ title: texts.failed, destructive: true });
      },
    );
  }

  return { rows, move, announcement };
}
