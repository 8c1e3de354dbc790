import { useState } from "react";
import { useDeleteMessage } from "@/features/admin-messages/api/delete-message";
import { useMessage } from "@/features/admin-messages/api/get-message";
import { useUndeliveredNotices } from "@/features/admin-messages/api/message-notices";
import { MessageDetail } from "@/features/admin-messages/components/message-detail";
import { MessageDialog } from "@/features/admin-messages/components/message-dialog";
import { useMarkRead } from "@/features/admin-messages/hooks/use-mark-read";
import { useStatusChange } from "@/features/admin-messages/hooks/use-status-change";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { DialogClose, DialogContent, DialogRoot } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";
import type { MessageNotice } from "@/lib/types";
import { useMediaQuery } from "@/lib/use-media-query";

// Constants, so that each render passes the same empty arrays.
const noIds: string[] = [];
const noNotices: MessageNotice[] = [];

type OpenedMessageProps = {
  /** The id of the message to show. Null closes the dialog. */
  id: string | null;
  /** The text of the button that closes the dialog on phones. */
  back: string;
  onClose(): void;
};

/** The dialog in which the board of commissions shows the message of a card. On phones the dialog fills the window. */
export function OpenedMessage({ id, back, onClose }: OpenedMessageProps) {
  const t = useT();
  const fillsWindow = useMediaQuery("(width < 48rem)");
  const { data: message = null, isFetching } = useMessage(id);
  const undelivered = useUndeliveredNotices(id ? [id] : noIds).data;
  const { mutateAsync: remove } = useDeleteMessage();
  const [deleting, setDeleting] = useState(false);
  const setStatus = useStatusChange();
  const shown = id ? message : null;
  useMarkRead(shown, isFetching, setStatus);
  const detail = shown && (
    <MessageDetail
      key={shown.id}
      message={shown}
      undelivered={undelivered?.[shown.id] ?? noNotices}
      onStatus={(status) => setStatus(shown.id, status)}
      onDelete={() => setDeleting(true)}
      inDialog
    />
  );
  return (
    <>
      {fillsWindow ? (
        <MessageDialog open={shown !== null} back={back} onClose={onClose}>
          {detail}
        </MessageDialog>
      ) : (
        <DialogRoot
          open={shown !== null}
          onOpenChange={(open) => {
            if (!open) onClose();
          }}
        >
          <DialogContent className="max-w-[880px] p-8 pt-16 lg:p-12 lg:pt-16">
            <DialogClose />
            {detail}
          </DialogContent>
        </DialogRoot>
      )}
      <DeleteDialog
        item={deleting ? shown : null}
        title={t("messages.deleteTitle")}
        question={t("messages.deleteConfirm")}
        deleted={t("messages.toast.deleted")}
        failed={() => t("messages.toast.deleteError")}
        remove={({ id: messageId }) => remove(messageId)}
        onDeleted={onClose}
        onClose={() => setDeleting(false)}
      />
    </>
  );
}
