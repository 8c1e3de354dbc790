import { ReviewForm } from "@/features/admin-reviews/components/review-form";
import type { ReviewFormState } from "@/features/admin-reviews/schema";
import { DraftDialog } from "@/components/form/draft-dialog";
import type { DraftDialogProps } from "@/lib/editing/use-draft-dialog";
import { useT } from "@/lib/i18n";

/** The dialog around the form of a review. `dialog` comes from useDraftDialog. */
export function ReviewDialog(dialog: DraftDialogProps<ReviewFormState>) {
  const t = useT();
  const title = t(dialog.start.review ? "reviews.editTitle" : "reviews.add");
  return (
    <DraftDialog dialog={dialog} title={title} className="max-w-[560px]">
      {(form) => <ReviewForm {...form} />}
    </DraftDialog>
  );
}
