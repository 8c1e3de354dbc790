import { useRetryNotices } from "@/features/admin-messages/api/message-notices";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { errorToast } from "@/lib/error-toast";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { MessageNotice } from "@/lib/types";

/**
 * Lists the notices about a message (mails and webhook requests to the owners) that have failed or are being retried. A button sends
 * the failed ones again (docs/product.md, rule 17). `id` is the id of the message.
 */
export function UndeliveredNotices({ id, notices }: { id: string; notices: MessageNotice[] }) {
  const t = useT();
  const retry = useRetryNotices();
  const failed = notices.some(({ state }) => state === "failed");

  function sendAgain() {
    retry.mutateAsync(id).then(
      () => stackedToast({ title: t("messages.toast.noticeAgain") }),
      () => errorToast(t, t("messages.noticeAgainError")),
    );
  }

  return (
    <Alert
      title={t(failed ? "messages.noticeFailed" : "messages.noticeRetrying")}
      className="mt-6 max-w-[40rem]"
    >
      <p>{t("messages.noticeBody")}</p>
      <ul className="mt-1 list-disc pl-5">
        {notices.map((notice) => (
          <li key={notice.channel + notice.recipient} className="break-words">
            {t(`notice.${notice.channel}`, { recipient: notice.recipient })}
            {notice.error && `: ${notice.error}`}
            {notice.state === "retrying" && `; ${t("notice.retrying")}`}
          </li>
        ))}
      </ul>
      {failed && (
        <Button
          variant="outline"
          size="sm"
          className="mt-3"
          loading={retry.isPending}
          onClick={sendAgain}
        >
          {t("messages.noticeAgain")}
        </Button>
      )}
    </Alert>
  );
}
