import { Reply } from "lucide-react";
import { MessageArtwork } from "@/features/admin-messages/components/message-artwork";
import { CommissionPanel } from "@/features/admin-messages/components/commission-panel";
import { Conversation } from "@/features/admin-messages/components/conversation";
import { DoneButton } from "@/features/admin-messages/components/done-button";
import { DetailRow } from "@/features/admin-messages/components/detail-row";
import { MessageArticle } from "@/features/admin-messages/components/message-article";
import { UndeliveredNotices } from "@/features/admin-messages/components/undelivered-notices";
import { StatusMenu } from "@/features/admin-messages/components/status-menu";
import { replyUrl } from "@/features/admin-messages/reply-url";
import { buttonClasses } from "@/components/ui/button-classes";
import { useBoot } from "@/lib/boot";
import { dateTime } from "@/lib/owner-dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { ContactStatus, ContactSubmission, MessageNotice } from "@/lib/types";

type MessageDetailProps = {
  message: ContactSubmission;
  /** The notices about this message (mails and webhook requests to the owners) that have failed or are being retried. */
  undelivered: MessageNotice[];
  onStatus(status: ContactStatus): void;
  onDelete(): void;
  /** Whether the message is in a dialog. If not, it is beside the list. */
  inDialog: boolean;
};

/**
 * An opened message (a row of contact_submissions) with its details, commission and conversation. Its email address and its button
 * Reply open the owner's mail program, and set the status of the message to "replied".
 */
export function MessageDetail({
  message,
  undelivered,
  onStatus,
  onDelete,
  inDialog,
}: MessageDetailProps) {
  const t = useT();
  const { language } = useLanguage();
  const { site } = useBoot();
  const mailto = replyUrl(message.email, t("messages.replySubject", { site: site.name }));
  const markReplied = () => {
    if (message.status !== "replied") onStatus("replied");
  };
  return (
    <MessageArticle
      message={message}
      details={
        <>
          <DetailRow term={t("messages.status")}>
            <StatusMenu status={message.status} onChange={onStatus} />
          </DetailRow>
          <DetailRow term={t("contact.form.email")}>
            <a href={mailto} onClick={markReplied} className="text-link break-words">
              {message.email}
            </a>
          </DetailRow>
          <DetailRow term={t("messages.reason")}>{t(`reason.${message.reason}`)}</DetailRow>
          {message.artwork_id && (
            <DetailRow term={t("messages.artwork")}>
              <MessageArtwork id={message.artwork_id} />
            </DetailRow>
          )}
          <DetailRow term={t("messages.received")}>
            {dateTime(message.created_at, language)}
          </DetailRow>
        </>
      }
      onDelete={onDelete}
      inDialog={inDialog}
    >
      <div className="mt-8 flex flex-wrap gap-3">
        <a href={mailto} onClick={markReplied} className={buttonClasses({ variant: "outline" })}>
          <Reply aria-hidden="true" size={20} strokeWidth={1.75} />
          {t("messages.reply")}
        </a>
        <DoneButton message={message} />
      </div>
      <CommissionPanel message={message} />
      <Conversation message={message} />
      {undelivered.length > 0 && <UndeliveredNotices id={message.id} notices={undelivered} />}
    </MessageArticle>
  );
}
