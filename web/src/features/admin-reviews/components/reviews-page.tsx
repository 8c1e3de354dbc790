import { useState } from "react";
import { Plus } from "lucide-react";
import { useReviews } from "@/features/admin-reviews/api/list-reviews";
import { DeleteReviewDialog } from "@/features/admin-reviews/components/delete-review-dialog";
import { ReviewDialog } from "@/features/admin-reviews/components/review-dialog";
import { ReviewList } from "@/features/admin-reviews/components/review-list";
import { startOf } from "@/features/admin-reviews/schema";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import type { Review } from "@/lib/types";
import { useDraftDialog } from "@/lib/use-draft-dialog";

export function ReviewsPage() {
  const t = useT();
  const reviews = useReviews();
  const form = useDraftDialog("reviews", startOf(null));
  const [deleting, setDeleting] = useState<Review | null>(null);

  const add = (
    <Button onClick={() => form.show(startOf(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("reviews.add")}
    </Button>
  );

  return (
    <AdminPage title={t("nav.reviews")} action={add}>
      <AdminListState query={reviews} empty={t("reviews.empty")} emptyAction={add}>
        {(rows) => (
          <ReviewList
            reviews={rows}
            onEdit={(review) => form.show(startOf(review))}
            onDelete={setDeleting}
          />
        )}
      </AdminListState>
      <ReviewDialog
        key={form.round}
        start={form.start}
        open={form.open}
        onChanged={form.note}
        onNewer={form.show}
        drafted={form.drafted}
        onClose={form.close}
      />
      <DeleteReviewDialog review={deleting} onClose={() => setDeleting(null)} />
    </AdminPage>
  );
}
