import { useCallback, useRef, useState } from "react";
import { useReorderReviews } from "@/features/admin-reviews/api/reorder-reviews";
import { inOrder } from "@/features/admin-reviews/reorder";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { moveItem } from "@/lib/move-item";

/**
 * The reviews in the order that the owner has chosen, before the server has confirmed it. The order is in state, because a
 * change of the query cache renders one frame later: a dropped row would flash at its old place.
 */
export function useReviewOrder(reviews: Review[]) {
  const t = useT();
  const { mutateAsync } = useReorderReviews();
  const [requestedOrder, setRequestedOrder] = useState<string[] | null>(null);
  const [announcement, setAnnouncement] = useState("");
  const latestRequest = useRef(0);

  const rows = requestedOrder ? inOrder(reviews, requestedOrder) : reviews;

  const move = useCallback(
    (id: string, to: number) => {
      const from = rows.findIndex((review) => review.id === id);
      const place = Math.max(0, Math.min(to, rows.length - 1));
      if (from < 0 || from === place) return;
      const ids = moveItem(rows, from, place).map((review) => review.id);
      const request = ++latestRequest.current;
      setRequestedOrder(ids);
      setAnnouncement(
        t("reviews.moved", { name: rows[from]!.client_name, n: place + 1, total: rows.length }),
      );
      mutateAsync(ids)
        .then(
          () => {
            // A series of quick changes shows one toast.
            if (request === latestRequest.current) areaToast({ title: t("reviews.toast.ordered") });
          },
          () => {
            areaToast({ title: t("reviews.toast.orderError"), destructive: true });
          },
        )
        .finally(() => {
          if (request === latestRequest.current) setRequestedOrder(null);
        });
    },
    [rows, mutateAsync, t],
  );

  return { rows, move, announcement };
}
