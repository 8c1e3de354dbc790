import { ReviewForm } from "@/features/admin-reviews/components/review-form";
import type { ReviewStart } from "@/features/admin-reviews/schema";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { useT } from "@/lib/i18n";
import { useDiscardQuestion, type DraftDialogProps } from "@/lib/use-draft-dialog";

export function ReviewDialog(props: DraftDialogProps<ReviewStart>) {
  const t = useT();
  const { start, open, onNewer, drafted, onClose } = props;
  const { note, askOrClose, question } = useDiscardQuestion(props);

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
        {start.unsaved && (
          <p role="status" className="text-ink2 mt-3 text-sm">
            {t("common.draftBack")}
          </p>
        )}
        <ReviewForm
          start={start}
          onChanged={note}
          onNewer={onNewer}
          drafted={drafted}
          onCancel={askOrClose}
          onSaved={onClose}
        />
        <DialogClose />
        <DiscardDialog {...question} />
      </DialogContent>
    </DialogRoot>
  );
}
