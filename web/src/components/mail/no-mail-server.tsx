import { MailTestButton } from "@/components/mail/mail-test-button";
import { Notice } from "@/components/ui/notice";
import { useT } from "@/lib/i18n";
import { useMailServer } from "@/lib/mail-test";

/** Warns the owner that no mail server is configured. Renders nothing if there is one, and while that is not known yet. */
export function NoMailServer({ className }: { className?: string }) {
  const t = useT();
  const { data } = useMailServer();
  if (data !== false) return null;
  return (
    <Notice title={t("mail.none.title")} className={className}>
      <p className="max-w-[40em]">{t("mail.none.body")}</p>
      <div className="mt-3">
        <MailTestButton />
      </div>
    </Notice>
  );
}
