import type { ReactNode } from "react";
import { Reply, Trash2 } from "lucide-react";
import { StatusMenu } from "@/features/admin-messages/components/status-menu";
import { replyAddress } from "@/features/admin-messages/reply-address";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { DialogTitle } from "@/components/ui/dialog";
import { useBoot } from "@/lib/boot";
import { dateTime } from "@/lib/dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

type MessageDetailProps = {
  message: ContactSubmission;
  onStatus(status: ContactStatus): void;
  onDelete(): void;
  inDialog: boolean;
};

export function MessageDetail({ message, onStatus, onDelete, inDialog }: MessageDetailProps) {
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
        <Title className="min-w-0 text-[2.5rem] leading-[1.1] font-[300] tracking-[-.01em]">
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
        <Row term={t("messages.status")}>
          <StatusMenu status={message.status} onChange={onStatus} />
        </Row>
        <Row term={t("contact.form.email")}>
          <a href={reply} onClick={replied} className="text-link">
            {message.email}
          </a>
        </Row>
        <Row term={t("messages.reason")}>{t(`reason.${message.reason}`)}</Row>
        <Row term={t("messages.received")}>{dateTime(message.created_at, language)}</Row>
      </dl>
      <p className="mt-5 text-[1.4375rem] leading-[1.34] font-[330] max-w-[33em] whitespace-pre-line">
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
    </article>
  );
}

function Row({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="grid min-h-[35px] grid-cols-[7.5rem_minmax(0,1fr)] items-center gap-x-5 text-sm">
      <dt className="text-ink2">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
