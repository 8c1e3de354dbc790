import { useCallback, useRef, useState } from "react";
import { useReorderReviews } from "@/features/admin-reviews/api/reorder-reviews";
import { inOrder } from "@/features/admin-reviews/reorder";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { moveItem } from "@/lib/move-item";

/**
 * The list in the order the owner sees. It lives here and not in the query cache, which tells React a
 * moment too late: the dropped row would flash in its old place.
 */
export function useReviewOrder(reviews: Review[]) {
  const t = useT();
  const { mutateAsync } = useReorderReviews();
  const [wanted, setWanted] = useState<string[] | null>(null);
  const [said, setSaid] = useState("");
  const latest = useRef(0);

  const rows = wanted ? inOrder(reviews, wanted) : reviews;

  const move = useCallback(
    (id: string, to: number) => {
      const from = rows.findIndex((review) => review.id === id);
      const place = Math.max(0, Math.min(to, rows.length - 1));
      if (from < 0 || from === place) return;
      const ids = moveItem(rows, from, place).map((review) => review.id);
      const request = ++latest.current;
      setWanted(ids);
      setSaid(
        t("reviews.moved", { name: rows[from]!.client_name, n: place + 1, total: rows.length }),
      );
      mutateAsync(ids)
        .then(
          () => {
            // A series of presses is one change to the eye: it ends with one toast.
            if (request === latest.current) areaToast({ title: t("reviews.toast.ordered") });
          },
          () => {
            areaToast({ title: t("reviews.toast.orderError"), destructive: true });
          },
        )
        .finally(() => {
          if (request === latest.current) setWanted(null);
        });
    },
    [rows, mutateAsync, t],
  );

  return { rows, move, said };
}
