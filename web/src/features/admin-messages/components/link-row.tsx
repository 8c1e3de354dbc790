import { useState } from "react";
import { Copy } from "lucide-react";
import { useConversationAction } from "@/features/admin-messages/api/conversation";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { errorToast } from "@/lib/error-toast";
import { useLanguage, useT } from "@/lib/i18n";
import { localDay, shortDate } from "@/lib/owner-dates";
import type { Conversation } from "@/lib/types";

/**
 * Shows the private link of a message (the URL at which the visitor follows the message), with buttons that copy and replace the
 * link. If `link` is null, a button makes a link. If `link.url` is "", only the visitor knows the URL, so it cannot be copied.
 */
export function LinkRow({ messageId, link }: { messageId: string; link: Conversation["link"] }) {
  const t = useT();
  const { language } = useLanguage();
  const action = useConversationAction(messageId);
  const [status, setStatus] = useState("");

  async function copy(url: string) {
    try {
      await navigator.clipboard.writeText(url);
      setStatus(t("messages.linkCopied"));
    } catch {
      setStatus(t("messages.linkCopyFailed", { url }));
    }
  }

  function renew() {
    setStatus("");
    action.mutateAsync({ action: "renew" }).then(
      () => setStatus(t("messages.linkRenewed")),
      (error: unknown) => errorToast(t, messageOf(error)),
    );
  }

  return (
    <div className="border-line mt-6 border-t pt-4 text-sm">
      <p className="text-ink2">
        {link
          ? t("messages.linkUntil", { date: shortDate(localDay(link.expires_at), language) })
          : t("messages.linkNone")}
      </p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {link?.url && (
          <Button variant="outline" size="sm" onClick={() => void copy(link.url)}>
            <Copy aria-hidden="true" size={18} strokeWidth={1.75} />
            {t("messages.linkCopy")}
          </Button>
        )}
        <Button variant="outline" size="sm" loading={action.isPending} onClick={renew}>
          {t(link ? "messages.linkRenew" : "messages.linkMake")}
        </Button>
        <span role="status" className="text-ink2 break-all">
          {status}
        </span>
      </div>
    </div>
  );
}
