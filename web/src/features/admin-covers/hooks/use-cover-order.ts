import { useRef, useState } from "react";
import { useUndoCoverChange, useUpdateCover } from "@/features/admin-covers/api/update-cover";
import { errorToast } from "@/lib/error-toast";
import { COVER_ORDER_MIN } from "@/lib/constants";
import { useUndo } from "@/lib/editing/use-undo";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { moveItem } from "@/lib/move-item";
import { sortByIds } from "@/lib/sort-by-ids";
import { stackedToast } from "@/lib/toast";
import type { CoverImage } from "@/lib/types";

/**
 * Returns the covers in the order that the owner has chosen, and `move`, which moves a cover and saves the new order.
 *
 * While the server saves an order, the component has it in its state. The query cache would render the order one frame later,
 * and a dropped card would flash at its old place.
 */
export function useCoverOrder(covers: CoverImage[]) {
  const t = useT();
  const { mutateAsync: update } = useUpdateCover();
  const { mutateAsync: undo } = useUndoCoverChange();
  const undoButton = useUndo();
  // The ids in the order that is being saved; null if no order is being saved.
  const [requestedOrder, setRequestedOrder] = useState<string[] | null>(null);
  // The number of the newest save. When an earlier save ends, the order of the newest one is still shown.
  const latestSave = useRef(0);
  const rows = requestedOrder ? sortByIds(covers, requestedOrder, COVER_ORDER_MIN) : covers;

  /** Moves a cover to an index. */
  function move(id: string, to: number) {
    const from = rows.findIndex((cover) => cover.id === id);
    if (from < 0 || to < 0 || from === to) return;
    const save = ++latestSave.current;
    setRequestedOrder(moveItem(rows, from, to).map((cover) => cover.id));
    update({ base: rows[from]!, change: { display_order: to + COVER_ORDER_MIN } })
      .then(
        (saved) =>
          stackedToast({ title: t("covers.toast.updated"), action: undoButton(() => undo(saved)) }),
        (error: unknown) => errorToast(t, messageOf(error)),
      )
      .finally(() => {
        if (save === latestSave.current) setRequestedOrder(null);
      });
  }

  return { rows, move };
}
