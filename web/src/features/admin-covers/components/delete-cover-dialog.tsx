import { useDeleteCover } from "@/features/admin-covers/api/delete-cover";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { CoverImage } from "@/lib/types";

type DeleteCoverDialogProps = { cover: CoverImage; open: boolean; onClose(): void };

export function DeleteCoverDialog({ cover, open, onClose }: DeleteCoverDialogProps) {
  const t = useT();
  const remove = useDeleteCover();

  // mutateAsync, because the card, and with it this dialog, is gone before mutate's callbacks would run.
  async function confirm() {
    try {
      await remove.mutateAsync(cover);
      areaToast({ title: t("covers.toast.deleted") });
    } catch (error) {
      areaToast({ title: t("common.error"), description: messageOf(error), destructive: true });
    }
    onClose();
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
      title={t("covers.deleteTitle")}
      question={t("covers.deleteConfirm")}
      onConfirm={() => void confirm()}
      busy={remove.isPending}
    />
  );
}
