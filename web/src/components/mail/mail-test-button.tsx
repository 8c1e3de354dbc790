import { Send } from "lucide-react";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { useMailTest } from "@/lib/mail-test";

/** Sends a test mail to the owner and shows the result beside the button. */
export function MailTestButton() {
  const t = useT();
  const { data, error, isPending, mutate } = useMailTest();
  let status = "";
  if (error) status = messageOf(error);
  else if (data?.result === "failed") status = t("mail.test.failed", { reason: data.error ?? "" });
  else if (data) status = t(`mail.test.${data.result}`, { to: data.to });
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Button variant="outline" size="sm" loading={isPending} onClick={() => mutate()}>
        <Send aria-hidden="true" size={18} strokeWidth={1.75} />
        {t("mail.test.send")}
      </Button>
      <p role="status" className="min-w-0 text-sm break-words">
        {status}
      </p>
    </div>
  );
}
