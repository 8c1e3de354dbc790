import { useCallback, useState } from "react";
import { AddReviewForm } from "@/features/admin-reviews/components/add-review-form";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { useT } from "@/lib/i18n";

type AddReviewDialogProps = { open: boolean; onClose(): void };

export function AddReviewDialog({ open, onClose }: AddReviewDialogProps) {
  const t = useT();
  const [changed, setChanged] = useState(false);
  const [asking, setAsking] = useState(false);

  const askOrClose = useCallback(() => {
    if (changed) setAsking(true);
    else onClose();
  }, [changed, onClose]);

  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next) askOrClose();
      }}
    >
      <DialogContent className="max-w-[560px] p-5 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-[1.1] font-[310] sm:text-[2rem]">
          {t("reviews.add")}
        </DialogTitle>
        <AddReviewForm onChanged={setChanged} onCancel={askOrClose} onAdded={onClose} />
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
