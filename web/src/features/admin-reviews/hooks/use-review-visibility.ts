import { useUpdateReview } from "@/features/admin-reviews/api/update-review";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { Review } from "@/lib/types";

/**
 * Returns whether a review (what a client said) is visible on the site (`isActive`), and `toggleVisibility`, which hides or shows it.
 * While the server saves the change, `isActive` already has the new value.
 */
export function useReviewVisibility(review: Review) {
  const t = useT();
  const update = useUpdateReview();
  const undoButton = useUndo();
  const pendingChange = update.isPending ? update.variables.change : null;
  const isActive =
    pendingChange && "is_active" in pendingChange ? pendingChange.is_active : review.is_active;

  function toggleVisibility() {
    if (update.isPending) return;
    update.mutateAsync({ base: review, change: { is_active: !isActive } }).then(
      (saved) =>
        stackedToast({
          title: t("reviews.toast.updated"),
          action: undoButton(() =>
            update.mutateAsync({ base: saved, change: { is_active: isActive } }),
          ),
        }),
      () => stackedToast({ title: t("reviews.toast.updateError"), destructive: true }),
    );
  }

  return { isActive, toggleVisibility };
}
