import { ReviewForm } from "@/features/admin-reviews/components/review-form";
import type { ReviewFormState } from "@/features/admin-reviews/schema";
import { DraftNotice } from "@/components/form/draft-notice";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { useT } from "@/lib/i18n";
import { useDiscardQuestion, type DraftDialogProps } from "@/lib/editing/use-draft-dialog";

/** The dialog around the form of a review. It asks before unsaved changes are discarded. */
export function ReviewDialog(props: DraftDialogProps<ReviewFormState>) {
  const t = useT();
  const { start, draft, open, onLoadNewer, hasDraft, onClose, restored } = props;
  const { report, askOrClose, question } = useDiscardQuestion(props);

  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next) askOrClose();
      }}
    >
      <DialogContent className="max-w-[560px] p-5 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-[1.1] font-[310] sm:text-[2rem]">
          {t(start.review ? "reviews.editTitle" : "reviews.add")}
        </DialogTitle>
        {restored && <DraftNotice savedAt={restored} onDiscard={onClose} className="mt-3" />}
        <ReviewForm
          start={start}
          draft={draft}
          onChanged={report}
          onLoadNewer={onLoadNewer}
          hasDraft={hasDraft}
          onCancel={askOrClose}
          onSaved={onClose}
        />
        <DialogClose />
        <DiscardDialog {...question} />
      </DialogContent>
    </DialogRoot>
  );
}
