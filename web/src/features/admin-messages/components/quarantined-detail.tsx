import { ArchiveRestore } from "lucide-react";
import { DetailRow } from "@/features/admin-messages/components/detail-row";
import { MessageArticle } from "@/features/admin-messages/components/message-article";
import { Button } from "@/components/ui/button";
import { longDate } from "@/lib/dates";
import { dateTime, localDay } from "@/lib/owner-dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { QuarantinedMessage } from "@/lib/types";

type QuarantinedDetailProps = {
  message: QuarantinedMessage;
  /** Whether the message is being moved to the inbox. */
  restoring: boolean;
  onRestore(): void;
  onDelete(): void;
  /** Whether the message is in a dialog, as on phones. */
  inDialog: boolean;
};

/**
 * An opened message of the quarantine (messages that look like spam or are from a flood). Its email address is not a link, because
 * the message is probably spam.
 */
export function QuarantinedDetail({
  message,
  restoring,
  onRestore,
  onDelete,
  inDialog,
}: QuarantinedDetailProps) {
  const t = useT();
  const { language } = useLanguage();
  return (
    <MessageArticle
      message={message}
      details={
        <>
          <DetailRow term={t("contact.form.email")}>
            <span className="break-words">{message.email}</span>
          </DetailRow>
          {message.cause === "flood" ? (
            <DetailRow term={t("messages.cause")}>{t("messages.causeFlood")}</DetailRow>
          ) : (
            // `filled` is the content of the honeypot, a hidden field of the contact form that only bots fill in.
            <DetailRow term={t("messages.filled")}>
              <span className="line-clamp-4 break-words">{message.filled}</span>
            </DetailRow>
          )}
          <DetailRow term={t("messages.received")}>
            {dateTime(message.created_at, language)}
          </DetailRow>
          <DetailRow term={t("messages.expires")}>
            {longDate(localDay(message.expires_at), language)}
          </DetailRow>
        </>
      }
      onDelete={onDelete}
      inDialog={inDialog}
    >
      <Button variant="outline" className="mt-8" loading={restoring} onClick={onRestore}>
        <ArchiveRestore aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("messages.restore")}
      </Button>
    </MessageArticle>
  );
}
