import { ReviewRow } from "@/features/admin-reviews/components/review-row";
import { useReviewOrder } from "@/features/admin-reviews/hooks/use-review-order";
import { SortableList } from "@/components/ui/sortable";
import { useT } from "@/lib/i18n";
import type { Review } from "@/lib/types";

type ReviewListProps = {
  reviews: Review[];
  onEdit(review: Review): void;
  onHistory(review: Review): void;
  onDelete(review: Review): void;
};

/**
 * The list of all reviews (what clients said) in order. The owner moves a row by dragging it, by keys on its drag handle, or by its
 * arrow buttons.
 */
export function ReviewList({ reviews, onEdit, onHistory, onDelete }: ReviewListProps) {
  const t = useT();
  const { rows, move, announcement } = useReviewOrder(reviews);
  return (
    <>
      <p className="text-ink2 max-w-[60em] md:-mt-1.5">{t("reviews.intro")}</p>
      <SortableList
        rows={rows}
        move={move}
        announcement={announcement}
        movedText={(review, n) =>
          t("reviews.moved", { name: review.client_name, n, total: rows.length })
        }
        dragHelp={t("reviews.dragHelp")}
        renderRow={(review, index) => (
          <ReviewRow
            key={review.id}
            review={review}
            index={index}
            total={rows.length}
            onMove={(to) => move(review.id, to)}
            onEdit={() => onEdit(review)}
            onHistory={() => onHistory(review)}
            onDelete={() => onDelete(review)}
          />
        )}
      />
    </>
  );
}
