import { useCallback, useRef, useState } from "react";
import { useReorderReviews } from "@/features/admin-reviews/api/reorder-reviews";
import { sortByIds } from "@/features/admin-reviews/reorder";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { moveItem } from "@/lib/move-item";

/**
 * The reviews in the order that the owner has chosen, also before the server has confirmed it. Until then the order is in
 * the state and not in the query cache, whose changes render one frame later: a dropped row would flash at its old place.
 */
export function useReviewOrder(reviews: Review[]) {
  const t = useT();
  const { mutateAsync } = useReorderReviews();
  // The ids in the order that is being saved; null if none is.
  const [requestedOrder, setRequestedOrder] = useState<string[] | null>(null);
  const [announcement, setAnnouncement] = useState("");
  // The number of the newest request.
  const latestRequest = useRef(0);

  const rows = requestedOrder ? sortByIds(reviews, requestedOrder) : reviews;

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
