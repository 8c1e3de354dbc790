import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useT } from "@/lib/i18n";

type DiscardDialogProps = {
  open: boolean;
  /** Called when the owner goes on editing. */
  onKeep(): void;
  onDiscard(): void;
};

/** Asks whether to discard the unsaved changes of a form. */
export function DiscardDialog({ open, onKeep, onDiscard }: DiscardDialogProps) {
  const t = useT();
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen) onKeep();
      }}
      title={t("common.discardTitle")}
      question={t("common.discardQuestion")}
      cancelLabel={t("common.keepEditing")}
      confirmLabel={t("common.discard")}
      onConfirm={onDiscard}
    />
  );
}
