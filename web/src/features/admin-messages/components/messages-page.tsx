import { useCallback, useState } from "react";
import { useMessages } from "@/features/admin-messages/api/list-messages";
import { useSetMessageStatus } from "@/features/admin-messages/api/set-message-status";
import { DeleteMessageDialog } from "@/features/admin-messages/components/delete-message-dialog";
import { MessageDetail } from "@/features/admin-messages/components/message-detail";
import { MessageDialog } from "@/features/admin-messages/components/message-dialog";
import { MessageList } from "@/features/admin-messages/components/message-list";
import { useMarkRead } from "@/features/admin-messages/hooks/use-mark-read";
import { useOpenedMessage } from "@/features/admin-messages/hooks/use-opened-message";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import type { ContactStatus, ContactSubmission } from "@/lib/types";
import { useMediaQuery } from "@/lib/use-media-query";

export function MessagesPage() {
  const t = useT();
  const messages = useMessages();
  const narrow = useMediaQuery("(width < 48rem)");
  const { openedId, open, close } = useOpenedMessage(narrow);
  const [deleting, setDeleting] = useState<ContactSubmission | null>(null);
  const { mutate } = useSetMessageStatus();

  const opened = messages.data?.find(({ id }) => id === openedId) ?? null;

  const setStatus = useCallback(
    (id: string, status: ContactStatus) =>
      mutate(
        { id, status },
        {
          onError: (error) =>
            areaToast({
              title: t("common.error"),
              description: messageOf(error),
              destructive: true,
            }),
        },
      ),
    [mutate, t],
  );
  useMarkRead(opened, setStatus);

  const detail = opened && (
    <MessageDetail
      key={opened.id}
      message={opened}
      onStatus={(status) => setStatus(opened.id, status)}
      onDelete={() => setDeleting(opened)}
      inDialog={narrow}
    />
  );

  return (
    <AdminPage title={t("nav.messages")}>
      <AdminListState query={messages} empty={t("messages.empty")}>
        {(rows) => (
          <div className="border-ink border-t-2 md:grid md:grid-cols-[5fr_7fr]">
            <MessageList messages={rows} openedId={openedId} onOpen={open} />
            {!narrow && (
              <div className="min-w-0 py-7 pl-8 max-md:hidden lg:pl-12">
                {detail ?? <p className="text-ink2">{t("messages.choose")}</p>}
              </div>
            )}
          </div>
        )}
      </AdminListState>
      <MessageDialog open={narrow && opened !== null} onClose={close}>
        {detail}
      </MessageDialog>
      <DeleteMessageDialog message={deleting} onClose={() => setDeleting(null)} onDeleted={close} />
    </AdminPage>
  );
}
