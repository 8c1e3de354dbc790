import { ArchiveRestore, Trash2 } from "lucide-react";
import { DetailRow } from "@/features/admin-messages/components/detail-row";
import { Button } from "@/components/ui/button";
import { DialogTitle } from "@/components/ui/dialog";
import { dateTime, localDay, longDate } from "@/lib/dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { QuarantinedMessage } from "@/lib/types";

type QuarantinedDetailProps = {
  message: QuarantinedMessage;
  restoring: boolean;
  onRestore(): void;
  onDelete(): void;
  inDialog: boolean;
};

/** No link in it leads anywhere: what a machine has written is not for following. */
export function QuarantinedDetail({
  message,
  restoring,
  onRestore,
  onDelete,
  inDialog,
}: QuarantinedDetailProps) {
  const t = useT();
  const { language } = useLanguage();
  const Title = inDialog ? DialogTitle : "h2";
  return (
    <article>
      <div className="flex items-start justify-between gap-4">
        <Title className="min-w-0 text-[2.5rem] leading-[1.1] font-[300] tracking-[-.01em] break-words">
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
        <DetailRow term={t("contact.form.email")}>
          <span className="break-words">{message.email}</span>
        </DetailRow>
        <DetailRow term={t("messages.filled")}>
          <span className="line-clamp-4 break-words">{message.filled}</span>
        </DetailRow>
        <DetailRow term={t("messages.received")}>
          {dateTime(message.created_at, language)}
        </DetailRow>
        <DetailRow term={t("messages.expires")}>
          {longDate(localDay(message.expires_at), language)}
        </DetailRow>
      </dl>
      <p className="mt-5 max-w-[33em] text-[1.4375rem] leading-[1.34] font-[330] break-words whitespace-pre-line">
        {message.message}
      </p>
      <Button variant="outline" className="mt-8" loading={restoring} onClick={onRestore}>
        <ArchiveRestore aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("messages.restore")}
      </Button>
    </article>
  );
}
