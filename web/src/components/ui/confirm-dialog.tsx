import { useRef } from "react";
import { Button } from "@/components/ui/button";
import { DialogContent, DialogDescription, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";

type ConfirmDialogProps = {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: string;
  question: string;
  onConfirm(): void;
  /** Label of the button that confirms; "Delete" by default. */
  confirmLabel?: string;
  /** Label of the button that cancels; "Cancel" by default. */
  cancelLabel?: string;
  /** Whether the action is running. The dialog cannot be closed while it runs. */
  busy?: boolean;
};

/**
 * Asks before an action that cannot be undone. Cancel has the initial focus. A click outside the dialog also cancels, unless
 * `busy` is set.
 */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  question,
  onConfirm,
  confirmLabel,
  cancelLabel,
  busy = false,
}: ConfirmDialogProps) {
  const t = useT();
  const cancelButton = useRef<HTMLButtonElement>(null);
  return (
    <DialogRoot
      open={open}
      onOpenChange={(isOpen) => {
        if (!busy) onOpenChange(isOpen);
      }}
    >
      <DialogContent
        role="alertdialog"
        footColour="danger"
        className="max-w-[520px] p-6 sm:p-8"
        aria-describedby="confirm-question"
        onOpenAutoFocus={(event) => {
          event.preventDefault();
          cancelButton.current?.focus();
        }}
      >
        <DialogTitle className="text-[1.75rem] leading-tight font-[350]">{title}</DialogTitle>
        <DialogDescription id="confirm-question" className="mt-2">
          {question}
        </DialogDescription>
        <div className="mt-7 flex flex-wrap justify-end gap-3">
          <Button
            ref={cancelButton}
            variant="outline"
            size="sm"
            disabled={busy}
            onClick={() => onOpenChange(false)}
          >
            {cancelLabel ?? t("common.cancel")}
          </Button>
          <Button variant="danger" size="sm" loading={busy} onClick={onConfirm}>
            {confirmLabel ?? t("common.delete")}
          </Button>
        </div>
      </DialogContent>
    </DialogRoot>
  );
}
