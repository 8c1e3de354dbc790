import { useRef, useState } from "react";
import { useChangeSeries } from "@/features/admin-products/api/series";
import { movesBack, placeOf } from "@/features/admin-products/wall/place-of";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { moveItem } from "@/lib/move-item";
import { stackedToast } from "@/lib/toast";
import type { Series } from "@/lib/types";

/** The series in the order that the owner has chosen, also before the server has confirmed it, and a function that moves one. */
export function useSeriesOrder(series: Series[]) {
  const t = useT();
  const undoButton = useUndo();
  const { move: save } = useChangeSeries();
  // The ids in the order that is being saved; null if none is.
  const [savedOrder, setSavedOrder] = useState<string[] | null>(null);
  const [announcement, setAnnouncement] = useState("");
  const latestMove = useRef(0);
  const byId = new Map(series.map((one) => [one.id, one]));
  const rows = savedOrder ? savedOrder.flatMap((id) => byId.get(id) ?? []) : series;

  function move(id: string, to: number) {
    const from = rows.findIndex((row) => row.id === id);
    const place = Math.max(0, Math.min(to, rows.length - 1));
    if (from < 0 || from === place) return;
    const before = rows.map((row) => row.id);
    const order = moveItem(before, from, place);
    const number = ++latestMove.current;
    setSavedOrder(order);
    setAnnouncement(
      t("series.moved", { title: rows[from]!.title, n: place + 1, total: rows.length }),
    );
    save(placeOf(order, [id]))
      .then(
        () => {
          if (number !== latestMove.current) return; // a series of quick changes shows one toast
          stackedToast({
            title: t("series.toast.ordered"),
            action: undoButton(() => save(movesBack(before, [id])[0]!)),
          });
        },
        () => stackedToast({ title: t("series.toast.failed"), destructive: true }),
      )
      .finally(() => {
        if (number === latestMove.current) setSavedOrder(null);
      });
  }

  return { rows, move, announcement };
}
