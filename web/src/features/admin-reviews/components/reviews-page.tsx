import { useState } from "react";
import { Plus } from "lucide-react";
import { useReviews } from "@/features/admin-reviews/api/list-reviews";
import { AddReviewDialog } from "@/features/admin-reviews/components/add-review-dialog";
import { DeleteReviewDialog } from "@/features/admin-reviews/components/delete-review-dialog";
import { ReviewList } from "@/features/admin-reviews/components/review-list";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import type { Review } from "@/lib/types";

export function ReviewsPage() {
  const t = useT();
  const reviews = useReviews();
  // The round is the form's key: each opening starts clean.
  const [adding, setAdding] = useState({ open: false, round: 0 });
  const [deleting, setDeleting] = useState<Review | null>(null);

  const add = (
    <Button onClick={() => setAdding(({ round }) => ({ open: true, round: round + 1 }))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("reviews.add")}
    </Button>
  );

  return (
    <AdminPage title={t("nav.reviews")} action={add}>
      <AdminListState query={reviews} empty={t("reviews.empty")} emptyAction={add}>
        {(rows) => <ReviewList reviews={rows} onDelete={setDeleting} />}
      </AdminListState>
      <AddReviewDialog
        key={adding.round}
        open={adding.open}
        onClose={() => setAdding((now) => ({ ...now, open: false }))}
      />
      <DeleteReviewDialog review={deleting} onClose={() => setDeleting(null)} />
    </AdminPage>
  );
}
