import { useDeleteMessage } from "@/features/admin-messages/api/delete-message";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { ContactSubmission } from "@/lib/types";

type DeleteMessageDialogProps = {
  message: ContactSubmission | null;
  onClose(): void;
  onDeleted(): void;
};

export function DeleteMessageDialog({ message, onClose, onDeleted }: DeleteMessageDialogProps) {
  const t = useT();
  const remove = useDeleteMessage();

  function confirm() {
    if (!message) return;
    remove.mutate(message.id, {
      onSuccess: () => {
        areaToast({ title: t("messages.toast.deleted") });
        onDeleted();
      },
      onError: () =>
        areaToast({
          title: t("common.error"),
          description: t("messages.toast.deleteError"),
          destructive: true,
        }),
      onSettled: onClose,
    });
  }

  return (
    <ConfirmDialog
      open={message !== null}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={t("messages.deleteTitle")}
      question={t("messages.deleteConfirm")}
      onConfirm={confirm}
      busy={remove.isPending}
    />
  );
}
