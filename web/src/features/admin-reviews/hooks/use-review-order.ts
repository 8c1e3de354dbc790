import { useCallback, useRef, useState } from "react";
import {
  useReorderReviews,
  useUndoReviewOrder,
} from "@/features/admin-reviews/api/reorder-reviews";
import { REVIEW_ORDER_START } from "@/lib/constants";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { moveItem } from "@/lib/move-item";
import { sortByIds } from "@/lib/sort-by-ids";

/**
 * The order of the reviews (what clients said), which the owner changes by moving rows. Returns:
 *  - `rows`: the reviews in the order that the owner has chosen
 *  - `move`: moves a review to a new index, and saves the new order
 *  - `announcement`: the text about the last move, for screen readers
 *
 * While an order is being saved, it is in the state of the component and not in the query cache. The query cache would render the order
 * one frame later, and a dropped row would flash at its old place.
 */
export function useReviewOrder(reviews: Review[]) {
  const t = useT();
  const { mutateAsync: saveOrder } = useReorderReviews();
  const { mutateAsync: undoOrder } = useUndoReviewOrder();
  const undoButton = useUndo();
  // The ids in the order that is being saved; null if no order is being saved.
  const [requestedOrder, setRequestedOrder] = useState<string[] | null>(null);
  const [announcement, setAnnouncement] = useState("");
  // The number of the newest request. When an earlier request ends, nothing happens, because the newest order is still being saved.
  const latestRequest = useRef(0);
  // The ids in the order before the first running request, to which Undo returns. Null if no request is running.
  const orderBefore = useRef<string[] | null>(null);

  const rows = requestedOrder ? sortByIds(reviews, requestedOrder, REVIEW_ORDER_START) : reviews;

  const move = useCallback(
    (id: string, to: number) => {
      const from = rows.findIndex((review) => review.id === id);
      const newIndex = Math.max(0, Math.min(to, rows.length - 1));
      if (from < 0 || from === newIndex) return;
      const ids = moveItem(rows, from, newIndex).map((review) => review.id);
      const request = ++latestRequest.current;
      orderBefore.current ??= rows.map((review) => review.id);
      const before = orderBefore.current;
      setRequestedOrder(ids);
      setAnnouncement(
        t("reviews.moved", { name: rows[from]!.client_name, n: newIndex + 1, total: rows.length }),
      );
      saveOrder(ids)
        .then(
          () => {
            // Several quick moves show one toast.
            if (request !== latestRequest.current) return;
            stackedToast({
              title: t("reviews.toast.ordered"),
              action: undoButton(() => undoOrder({ before, after: ids })),
            });
          },
          () => {
            stackedToast({ title: t("reviews.toast.orderError"), destructive: true });
          },
        )
        .finally(() => {
          if (request !== latestRequest.current) return;
          orderBefore.current = null;
          setRequestedOrder(null);
        });
    },
    [rows, saveOrder, undoOrder, undoButton, t],
  );

  return { rows, move, announcement };
}
