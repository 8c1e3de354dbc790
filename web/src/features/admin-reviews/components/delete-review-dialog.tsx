import { useDeleteReview } from "@/features/admin-reviews/api/delete-review";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { Review } from "@/lib/types";

type DeleteReviewDialogProps = { review: Review | null; onClose(): void };

export function DeleteReviewDialog({ review, onClose }: DeleteReviewDialogProps) {
  const t = useT();
  const remove = useDeleteReview();

  function confirm() {
    if (!review) return;
    remove.mutate(review.id, {
      onSuccess: () => areaToast({ title: t("reviews.toast.deleted") }),
      onError: () => areaToast({ title: t("reviews.toast.deleteError"), destructive: true }),
      onSettled: onClose,
    });
  }

  return (
    <ConfirmDialog
      open={review !== null}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={t("reviews.deleteTitle")}
      question={t("reviews.deleteConfirm")}
      onConfirm={confirm}
      busy={remove.isPending}
    />
  );
}
