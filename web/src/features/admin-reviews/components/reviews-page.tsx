import { useState } from "react";
import { Plus } from "lucide-react";
import { useDeleteReview } from "@/features/admin-reviews/api/delete-review";
import { useReviews } from "@/features/admin-reviews/api/list-reviews";
import { ReviewDialog } from "@/features/admin-reviews/components/review-dialog";
import { ReviewList } from "@/features/admin-reviews/components/review-list";
import { historyDifferences } from "@/features/admin-reviews/history-differences";
import { initialFormState } from "@/features/admin-reviews/schema";
import { WaitingReviews } from "@/components/client-review/waiting-reviews";
import { RecentlyDeleted } from "@/components/history/recently-deleted";
import { RowHistory } from "@/components/history/row-history";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { useRestoreVersion } from "@/lib/history/use-restore-version";
import { useT } from "@/lib/i18n";
import type { Review } from "@/lib/types";
import { useDraftDialog } from "@/lib/editing/use-draft-dialog";

/**
 * The admin page of the reviews (what clients said). It shows the reviews that wait for the owner's approval, the list of all
 * other reviews in order, and recently deleted ones. Dialogs add, edit and delete a review and show its history.
 */
export function ReviewsPage() {
  const t = useT();
  const reviewsQuery = useReviews();
  const reviewDialog = useDraftDialog("reviews", initialFormState(null));
  const { mutateAsync: remove } = useDeleteReview();
  const { undoDeletion } = useRestoreVersion("reviews");
  const [reviewToDelete, setReviewToDelete] = useState<Review | null>(null);
  // The id of the review whose history is open; "" if no history is open.
  const [historyId, setHistoryId] = useState("");
  // The row is looked up in the list at each render, so that after a conflict the dialog compares with the newer row.
  const historyRow = reviewsQuery.data?.find(({ id }) => id === historyId) ?? null;

  const addButton = (
    <Button onClick={() => reviewDialog.open(initialFormState(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("reviews.add")}
    </Button>
  );

  return (
    <AdminPage title={t("nav.reviews")} action={addButton}>
      <WaitingReviews />
      <AdminListState query={reviewsQuery} empty={t("reviews.empty")} emptyAction={addButton}>
        {(rows) => (
          <ReviewList
            reviews={rows}
            onEdit={(review) => reviewDialog.open(initialFormState(review))}
            onHistory={({ id }) => setHistoryId(id)}
            onDelete={setReviewToDelete}
          />
        )}
      </AdminListState>
      <RecentlyDeleted table="reviews" nameOf={({ client_name }) => client_name} />
      <RowHistory
        table="reviews"
        row={historyRow}
        nameOf={({ client_name }) => client_name}
        differences={(before, now) => historyDifferences(before, now, t)}
        onClose={() => setHistoryId("")}
      />
      {/* `round` changes each time the dialog opens, so that it has a new form. */}
      <ReviewDialog key={reviewDialog.round} {...reviewDialog.dialog} />
      <DeleteDialog
        item={reviewToDelete}
        title={t("reviews.deleteTitle")}
        question={t("reviews.deleteConfirm")}
        deleted={t("reviews.toast.deleted")}
        failedTitle={t("reviews.toast.deleteError")}
        remove={({ id }) => remove(id)}
        undo={({ client_name, id }) => undoDeletion(client_name, id)}
        onClose={() => setReviewToDelete(null)}
      />
    </AdminPage>
  );
}
