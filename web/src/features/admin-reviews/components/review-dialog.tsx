import { useCallback, useRef, useState } from "react";
import { ReviewForm } from "@/features/admin-reviews/components/review-form";
import type { ReviewStart } from "@/features/admin-reviews/schema";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { useT } from "@/lib/i18n";

type ReviewDialogProps = {
  /** Read once when the dialog opens. */
  start: ReviewStart;
  open: boolean;
  /** Told at each change what would be lost if the page went away, or null when nothing would. */
  onChanged(unsaved: ReviewStart | null): void;
  onNewer(start: ReviewStart): void;
  drafted(): boolean;
  onClose(): void;
};

export function ReviewDialog({
  start,
  open,
  onChanged,
  onNewer,
  drafted,
  onClose,
}: ReviewDialogProps) {
  const t = useT();
  const changed = useRef(start.unsaved);
  const [asking, setAsking] = useState(false);

  const note = useCallback(
    (unsaved: ReviewStart | null) => {
      changed.current = unsaved !== null;
      onChanged(unsaved);
    },
    [onChanged],
  );

  const askOrClose = useCallback(() => {
    if (changed.current) setAsking(true);
    else onClose();
  }, [onClose]);

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
        <DiscardDialog
          open={asking}
          onKeep={() => setAsking(false)}
          onDiscard={() => {
            setAsking(false);
            onClose();
          }}
        />
      </DialogContent>
    </DialogRoot>
  );
}
