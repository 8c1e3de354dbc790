import { useState } from "react";
import { Plus } from "lucide-react";
import { useDeleteReview } from "@/features/admin-reviews/api/delete-review";
import { useReviews } from "@/features/admin-reviews/api/list-reviews";
import { ReviewDialog } from "@/features/admin-reviews/components/review-dialog";
import { ReviewList } from "@/features/admin-reviews/components/review-list";
import { initialState } from "@/features/admin-reviews/schema";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { useT } from "@/lib/i18n";
import type { Review } from "@/lib/types";
import { useDraftDialog } from "@/lib/editing/use-draft-dialog";

/** The admin page of reviews: the ordered list, and a dialog to add or edit a review. */
export function ReviewsPage() {
  const t = useT();
  const reviews = useReviews();
  const form = useDraftDialog("reviews", initialState(null));
  const { mutateAsync: remove } = useDeleteReview();
  const [deleting, setDeleting] = useState<Review | null>(null);

  const addButton = (
    <Button onClick={() => form.open(initialState(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("reviews.add")}
    </Button>
  );

  return (
    <AdminPage title={t("nav.reviews")} action={addButton}>
      <AdminListState query={reviews} empty={t("reviews.empty")} emptyAction={addButton}>
        {(rows) => (
          <ReviewList
            reviews={rows}
            onEdit={(review) => form.open(initialState(review))}
            onDelete={setDeleting}
          />
        )}
      </AdminListState>
      <ReviewDialog key={form.round} {...form.dialog} />
      <DeleteDialog
        item={deleting}
        title={t("reviews.deleteTitle")}
        question={t("reviews.deleteConfirm")}
        deleted={t("reviews.toast.deleted")}
        failedTitle={t("reviews.toast.deleteError")}
        remove={({ id }) => remove(id)}
        onClose={() => setDeleting(null)}
      />
    </AdminPage>
  );
}
