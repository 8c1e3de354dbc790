import { Reply, Trash2 } from "lucide-react";
import { DetailRow } from "@/features/admin-messages/components/detail-row";
import { NoticeTrouble } from "@/features/admin-messages/components/notice-trouble";
import { StatusMenu } from "@/features/admin-messages/components/status-menu";
import { replyAddress } from "@/features/admin-messages/reply-address";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { DialogTitle } from "@/components/ui/dialog";
import { useBoot } from "@/lib/boot";
import { dateTime } from "@/lib/dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { ContactStatus, ContactSubmission, MessageNotice } from "@/lib/types";

type MessageDetailProps = {
  message: ContactSubmission;
  /** Notices of it that did not leave. */
  troubles: MessageNotice[];
  onStatus(status: ContactStatus): void;
  onDelete(): void;
  inDialog: boolean;
};

export function MessageDetail({
  message,
  troubles,
  onStatus,
  onDelete,
  inDialog,
}: MessageDetailProps) {
  const t = useT();
  const { language } = useLanguage();
  const { site } = useBoot();
  const reply = replyAddress(message.email, t("messages.replySubject", { site: site.name }));
  const replied = () => {
    if (message.status !== "replied") onStatus("replied");
  };
  const Title = inDialog ? DialogTitle : "h2";
  return (
    <article>
      <div className="flex items-start justify-between gap-4">
        <Title className="min-w-0 break-words text-[2.5rem] leading-[1.1] font-[300] tracking-[-.01em]">
          {message.name}
        </Title>
        <Button
          variant="ghost"
          size="sm"
          className="text-telha! -mr-0.5 flex-none px-3"
          onClick={onDelete}
        >
          <Trash2 aria-hidden="true" size={20} strokeWidth={1.5} />
          {t("common.delete")}
        </Button>
      </div>
      <dl className="mt-2.5">
        <DetailRow term={t("messages.status")}>
          <StatusMenu status={message.status} onChange={onStatus} />
        </DetailRow>
        <DetailRow term={t("contact.form.email")}>
          <a href={reply} onClick={replied} className="text-link break-words">
            {message.email}
          </a>
        </DetailRow>
        <DetailRow term={t("messages.reason")}>{t(`reason.${message.reason}`)}</DetailRow>
        <DetailRow term={t("messages.received")}>
          {dateTime(message.created_at, language)}
        </DetailRow>
      </dl>
      <p className="mt-5 text-[1.4375rem] leading-[1.34] font-[330] max-w-[33em] break-words whitespace-pre-line">
        {message.message}
      </p>
      <a
        href={reply}
        onClick={replied}
        className={buttonLooks({ variant: "outline", className: "mt-8" })}
      >
        <Reply aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("messages.reply")}
      </a>
      {troubles.length > 0 && <NoticeTrouble id={message.id} notices={troubles} />}
    </article>
  );
}
