import { useState } from "react";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

type DeleteDialogProps<Item> = {
  /** What to delete; null closes the dialog. */
  item: Item | null;
  /** The title of the dialog. */
  title: string;
  /** The text of the dialog. */
  question: string;
  /** Title of the toast after success. */
  deleted: string;
  /** Title of the toast after a failure; "Error" by default. */
  failedTitle?: string;
  /** Description of the toast after a failure. */
  failed?(error: unknown): string;
  /** Deletes the item. */
  remove(item: Item): Promise<unknown>;
  /** Brings the deleted item back. With this function the toast after success has a button that calls it. */
  undo?(item: Item): Promise<unknown>;
  /** Called after success, before the dialog closes. */
  onDeleted?(): void;
  onClose(): void;
};

/** Asks before an item is deleted, deletes the item by `remove`, and shows the result in a toast. */
export function DeleteDialog<Item>({
  item,
  title,
  question,
  deleted,
  failedTitle,
  failed,
  remove,
  undo,
  onDeleted,
  onClose,
}: DeleteDialogProps<Item>) {
  const t = useT();
  const [busy, setBusy] = useState(false);

  async function confirm() {
    if (item === null) return;
    setBusy(true);
    try {
      await remove(item);
      stackedToast({
        title: deleted,
        action: undo && { label: t("common.undo"), onClick: () => void undo(item) },
      });
      onDeleted?.();
    } catch (error) {
      stackedToast({
        title: failedTitle ?? t("common.error"),
        description: failed?.(error),
        destructive: true,
      });
    }
    setBusy(false);
    onClose();
  }

  return (
    <ConfirmDialog
      open={item !== null}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={title}
      question={question}
      onConfirm={() => void confirm()}
      busy={busy}
    />
  );
}
