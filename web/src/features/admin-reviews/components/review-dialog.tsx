import { ReviewForm } from "@/features/admin-reviews/components/review-form";
import type { ReviewFormState } from "@/features/admin-reviews/schema";
import { DraftDialog } from "@/components/form/draft-dialog";
import type { DraftDialogProps } from "@/lib/editing/use-draft-dialog";
import { useT } from "@/lib/i18n";

/**
 * The dialog in which the owner adds or edits a review (what a client said). useDraftDialog provides its props, and stores unsaved
 * values of the form in the browser.
 */
export function ReviewDialog(dialog: DraftDialogProps<ReviewFormState>) {
  const t = useT();
  const title = t(dialog.start.review ? "reviews.editTitle" : "reviews.add");
  return (
    <DraftDialog dialog={dialog} title={title} className="max-w-[560px]">
      {(form) => <ReviewForm {...form} />}
    </DraftDialog>
  );
}
